"""Tools of the checks of G1."""

from collections.abc import Callable, Collection, Iterator

from calaudit.checks import View
from calaudit.errors import MissingFact
from calaudit.model import Result

Part = Callable[[View], Iterator[Result]]


def in_parts(view: View, *parts: Part) -> Iterator[Result]:
    """Run parts one after the other: what one part lacks leaves that part open, and the others are still judged."""
    said: set[str] = set()
    for part in parts:
        try:
            yield from part(view)
        except MissingFact as missing:
            if missing.message not in said:
                said.add(missing.message)
                yield view.open(missing.message, at=missing.at)


def few(names: Collection[object], limit: int = 5) -> str:
    """The first names of a list and how many more there are."""
    shown = ", ".join(str(name) for _, name in zip(range(limit), names, strict=False))
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
