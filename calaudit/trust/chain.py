"""The chain: the layout, the links of its steps and the provenance of their runs, held against each other.

The last word is in-toto's: its own artifact rules, over the documents that were read already. It opens no file and runs
nothing, since inspections, sublayouts and files are refused or read before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from calaudit.contract import Schemas
from calaudit.errors import Malformed, MissingFact
from calaudit.model import Kind, Location
from calaudit.trust.envelope import Envelope
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.layout import Layout, library_layout, verify_layout
from calaudit.trust.layout_rules import compile_layout
from calaudit.trust.link import Link, library_link, verify_link
from calaudit.trust.provenance import Provenance
from calaudit.trust.registry import Registry
from calaudit.trust.signatures import meets
from calaudit.trust.steps import ChainStep
from calaudit.trust.unknown_steps import of_unknown_steps

__all__ = ["Chain", "Expected", "verify_chain"]

_DIFFERS = "layout-differs-from-port"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the chain of a port is held against.

    ``steps`` are those that ``port.yaml`` declares, or what is wrong with them or with it; ``gates`` the gates that
    were judged, and the port: only steps of them, or that write a file of them, must have run. ``gate_of`` tells whose
    a file is.
    """

    port: str
    steps: tuple[ChainStep, ...] | Malformed | MissingFact
    gates: frozenset[str]
    gate_of: Callable[[str], str]
    files: Mapping[str, str]
    elsewhere: Mapping[str, str]
    registry: Registry
    schemas: Schemas
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What holds of it, and every fault."""

    layout: Layout | None = None
    links: tuple[Link, ...] = ()
    faults: tuple[Fault, ...] = field(default=())


def verify_chain(
    layout: str | None,
    links: Iterable[str],
    read: Callable[[str], Envelope],
    provenance: Sequence[Provenance],
    expected: Expected,
) -> Chain:
    """Verify the layout and the links of a port, given by their paths; ``read`` raises Refused for what is no envelope.

    ``provenance`` are the statements that hold.
    """
    faults: list[Fault] = []
    held = None if layout is None else _layout(layout, read, expected, faults)
    steps = expected.steps
    if isinstance(steps, Malformed | MissingFact):
        faults += of_unknown_steps(links, read, steps, expected.schemas, told=any(f.rule == _DIFFERS for f in faults))
        return Chain(faults=tuple(faults))
    chain = {step.name: step for step in steps}
    found = list(_links(links, read, chain, expected, faults))
    faults += _disagreeing(found, provenance, chain)
    faults += _against_rules(found, steps, expected)
    if held is not None:
        faults += _missing(found, steps, expected)
    wrong = {fault.at.path for fault in faults if fault.at is not None}
    return Chain(layout=held, links=tuple(x for x in found if x.path not in wrong), faults=tuple(faults))


def _layout(path: str, read: Callable[[str], Envelope], expected: Expected, faults: list[Fault]) -> Layout | None:
    if isinstance(expected.steps, Malformed):
        message = f"port.yaml cannot be laid out. {expected.steps.message}"
        faults.append(Fault(rule=_DIFFERS, message=message, at=Location(path=path)))
        return None
    try:
        return verify_layout(
            read(path),
            port=expected.port,
            chain=expected.steps,
            registry=expected.registry,
            schemas=expected.schemas,
            now=expected.now,
        )
    except Refused as refused:
        faults.append(refused.fault)
        return None


def _links(
    paths: Iterable[str],
    read: Callable[[str], Envelope],
    chain: Mapping[str, ChainStep],
    expected: Expected,
    faults: list[Fault],
) -> Iterator[Link]:
    for path in paths:
        try:
            yield verify_link(
                read(path),
                chain=chain,
                files=expected.files,
                elsewhere=expected.elsewhere,
                registry=expected.registry,
                schemas=expected.schemas,
            )
        except Refused as refused:
            faults.append(refused.fault)


def _disagreeing(
    links: Iterable[Link], provenance: Sequence[Provenance], chain: Mapping[str, ChainStep]
) -> Iterator[Fault]:
    """Links that say something else than the provenance of the step's runs."""
    for link in links:
        step = chain[link.step]
        told = {
            "role": step.role,
            "gate": step.gate,
            "command": link.command,
            "materials": link.materials,
            "products": link.products,
        }
        for statement in (p for p in provenance if p.step == link.step):
            member = next((m for m, value in told.items() if getattr(statement, m) != value), None)
            if member is not None:
                other = f"other {member}" if member.endswith("s") else f"another {member}"
                message = f"It has {other} than {statement.path}, which is of the same step."
                yield Fault(rule="link-statement-disagree", message=message, at=Location(path=link.path))
                break


def _missing(links: Sequence[Link], steps: Iterable[ChainStep], expected: Expected) -> Iterator[Fault]:
    """Steps of the gates that were judged, of which no link holds, or too few."""
    for step in steps:
        role = expected.registry.role(step.functionary)
        gates = {step.gate, *map(expected.gate_of, step.made(expected.files))}
        if not gates & expected.gates or role is None:  # without a role the layout would not hold
            continue
        count = meets((link.signer for link in links if link.step == step.name), role)
        if count < role.threshold:
            message = f"{count} of the {role.threshold} functionaries of {step.role} that are needed ran {step.name}."
            yield Fault(
                rule="link-missing",
                message=message,
                at=Location(path="port.yaml", pointer=f"/steps/{step.name}"),
                kind=Kind.OPEN,
            )


def _against_rules(links: Sequence[Link], steps: Sequence[ChainStep], expected: Expected) -> Iterator[Fault]:
    """Each link held against the port's globs and against in-toto's rules of its step."""
    own = {link.path: fault for link in links if (fault := _undeclared(link, steps)) is not None}
    yield from own.values()
    if not links:
        return
    try:
        document = compile_layout(expected.port, steps, expected.registry, expected.now)
    except Malformed:
        return  # nothing was laid out: that is the layout's fault, or there is none and each link stands alone
    # One of a step is enough where it is the only one, or where all of them say the same.
    chosen = {link.step: link for link in reversed(links)}
    for link in links:
        other = chosen[link.step]
        if (link.materials, link.products) != (other.materials, other.products):
            message = f"It has other materials or products than {other.path}: two runs of one step that differ."
            yield Fault(rule="link-rule-violated", message=message, at=Location(path=link.path))
    upstream = {step.name: step.upstream for step in steps}
    ready = {name for name in chosen if all(above in chosen for above in upstream[name])}
    from in_toto import verifylib  # noqa: PLC0415 - a fifth of a second of imports
    from in_toto.exceptions import RuleVerificationError  # noqa: PLC0415 - as above

    models = {name: library_link(link.document) for name, link in chosen.items()}
    for step in library_layout(document).steps:
        if step.name not in ready or chosen[step.name].path in own:
            continue
        try:
            verifylib.verify_all_item_rules([step], models)
        except RuleVerificationError as error:
            told = str(error).partition("\n")[0]
            message = f"in-toto's rules of {step.name} do not hold: {told if len(told) < 500 else told[:500] + '…'}"
            yield Fault(rule="link-rule-violated", message=message, at=Location(path=chosen[step.name].path))


def _undeclared(link: Link, steps: Iterable[ChainStep]) -> Fault | None:
    """A product that fits no glob of the step: in-toto's ``*`` crosses ``/``, the port's does not."""
    step = next(step for step in steps if step.name == link.step)
    path = next((path for path in sorted(link.products) if not step.writes(path)), None)
    if path is None:
        return None
    message = f"{step.name} wrote {path}, which is no product of it in port.yaml."
    return Fault(rule="link-rule-violated", message=message, at=Location(path=link.path))
