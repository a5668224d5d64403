"""What trust finds wrong, in the words of the rule that will report it."""

from dataclasses import dataclass

from calaudit.model import Kind, Location

__all__ = ["Fault", "Refused", "unknown_port"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong (``fail``) or that could not be verified (``open``)."""

    rule: str
    message: str
    at: Location | None = None
    kind: Kind = Kind.FAIL
    expected: str | None = None
    actual: str | None = None


class Refused(Exception):
    """A step of a verification that did not hold; the steps after it are not taken."""

    def __init__(  # noqa: PLR0913 - a fault's members, by name
        self,
        rule: str,
        message: str,
        *,
        at: Location | None = None,
        kind: Kind = Kind.FAIL,
        expected: str | None = None,
        actual: str | None = None,
    ) -> None:
        super().__init__(message)
        self.fault = Fault(rule=rule, message=message, at=at, kind=kind, expected=expected, actual=actual)


def unknown_port(rule: str, named: str, at: Location) -> Refused:
    """What names a port, where the id of the port at hand cannot be read: that it is another's is not known either."""
    message = f"It is of the port {named}, and the id of the port at hand cannot be read from port.yaml."
    return Refused(rule, message, at=at, kind=Kind.OPEN)
