"""A sequence of records that is parsed as it is iterated."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import overload

from calaudit.evidence.nouns import Record


class Records(Sequence[Record]):
    """So many records that come from an iterator when they are asked for; an index reads up to it."""

    def __init__(self, count: int, read: Callable[[], Iterator[Record]]) -> None:
        """``read`` begins again at the first record."""
        self._count = count
        self._read = read

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Record]:
        return self._read()

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...

    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            wanted = range(*index.indices(self._count))
            kept = {n: r for n, r in enumerate(self) if n in wanted}
            return [kept[n] for n in wanted]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return next(islice(self, index % self._count, None))
