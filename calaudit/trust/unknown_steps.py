"""Links of a port whose steps nobody can tell, because its manifest cannot be used or its steps cannot be laid out."""

from collections.abc import Callable, Iterable, Iterator

from calaudit.contract import Schemas
from calaudit.errors import Malformed, MissingFact
from calaudit.model import Kind, Location
from calaudit.trust.envelope import Envelope
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.link import said_step

__all__ = ["of_unknown_steps"]


def of_unknown_steps(
    paths: Iterable[str],
    read: Callable[[str], Envelope],
    wrong: Malformed | MissingFact,
    schemas: Schemas,
    *,
    told: bool,
) -> Iterator[Fault]:
    """What is wrong with a link whatever the steps are; and once, unless it is ``told``, that the others are open.

    It is one cause however many links there are. Steps that are wrong in themselves are a fault, as they are for a
    layout.
    """
    for path in paths:
        try:
            said_step(read(path), schemas)
        except Refused as refused:
            yield refused.fault
            continue
        if not told:
            told = True
            yield _unknown(wrong)


def _unknown(wrong: Malformed | MissingFact) -> Fault:
    rule = "link-name-mismatch"
    if isinstance(wrong, MissingFact):
        message = f"Whether the links are of the port's steps is open. {wrong.message}"
        return Fault(rule=rule, message=message, at=wrong.at, kind=Kind.OPEN)
    at = Location(path="port.yaml", pointer=wrong.pointer)
    return Fault(
        rule=rule, message=f"port.yaml cannot be laid out, so that no link is of its steps. {wrong.message}", at=at
    )
