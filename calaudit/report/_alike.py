"""What findings say alike: each message once, each place once, and no more of a list than somebody reads."""

from collections.abc import Iterator
from dataclasses import dataclass

from calaudit.model import Location, Result
from calaudit.report._groups import Group

__all__ = ["FEW", "LISTED", "Matter", "Tail", "cut", "matters"]

LISTED = 10
"""How long a list may be before only its first few entries are shown."""

FEW = 5

Tail = tuple[str | None, str | None, tuple[tuple[Location | None, str | None], ...]]
"""What stands under a message: what was expected, what was found if it is the same everywhere, and the places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What findings of a group say alike, of one place or of several."""

    message: str
    expected: str | None
    findings: tuple[Result, ...]

    @property
    def tail(self) -> Tail:
        """What stands under the message; each place once."""
        places = dict.fromkeys((f.location, f.actual) for f in self.findings)
        actuals = {actual for _, actual in places}
        if len(actuals) == 1 and len(places) > 1:
            return self.expected, actuals.pop(), tuple((where, None) for where, _ in places)
        return self.expected, None, tuple(places)


def matters(group: Group) -> Iterator[Matter]:
    """The findings of a group, those that differ only in their place together."""
    alike: dict[tuple[str, str | None], list[Result]] = {}
    for finding in group.findings:
        alike.setdefault((finding.message, finding.expected), []).append(finding)
    for (message, expected), findings in alike.items():
        yield Matter(message=message, expected=expected, findings=tuple(findings))


def cut(value: str, *, whole: bool = False) -> str:
    """A value; of a long list the first entries, and how many more there are."""
    if whole:
        return value
    for separator in (", ", "; "):
        entries = value.split(separator)
        if len(entries) > LISTED:
            return f"{separator.join(entries[:FEW])}{separator}… and {len(entries) - FEW} more (see -o json)"
    return value
