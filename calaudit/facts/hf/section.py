"""One JSON object of a foreign document, asked for typed members; nothing about it is taken for granted."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeGuard

from calaudit.model import Json

_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class Section:
    """An object whose members are read by the first of several names that holds a value of the wanted type."""

    raw: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))

    def has(self, *names: str) -> bool:
        """Whether a member of one of these names is there and not null."""
        return any(self.raw.get(name) is not None for name in names)

    def integer(self, *names: str) -> int | None:
        """A positive integer."""
        return next((value for name in names if is_count(value := self.raw.get(name))), None)

    def number(self, *names: str) -> float | None:
        """A finite number."""
        for name in names:
            value = self.raw.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value):
                return float(value)
        return None

    def text(self, *names: str) -> str | None:
        """A text that is not empty."""
        return next((value for name in names if isinstance(value := self.raw.get(name), str) and value), None)

    def flag(self, *names: str) -> bool:
        """Whether one of these members is true."""
        return any(self.raw.get(name) is True for name in names)

    def truthy(self, *names: str) -> bool:
        """Whether one of these members is there and is not null, false, zero or empty."""
        return any(bool(self.raw.get(name)) for name in names)

    def section(self, *names: str) -> "Section":
        """A member that is an object; an empty one where there is none."""
        return next((Section(value) for name in names if isinstance(value := self.raw.get(name), dict)), Section())

    def items(self, *names: str) -> list[Json]:
        """A member that is an array; an empty one where there is none."""
        return next((value for name in names if isinstance(value := self.raw.get(name), list)), [])

    def sections(self) -> Iterator[tuple[str, "Section"]]:
        """Every member that is an object."""
        for name, value in self.raw.items():
            if isinstance(value, dict):
                yield name, Section(value)

    def __bool__(self) -> bool:
        return bool(self.raw)


def is_count(value: object) -> TypeGuard[int]:
    """Whether a value is a positive integer of a sane size."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of float
        return False
