"""One pass over a file of external data: every tensor's slice is judged while the bytes go by."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calaudit.facts.onnx.extents import Extent, gaps

if TYPE_CHECKING:
    from hashlib import _Hash

    from calaudit.finite import FiniteCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What one extent holds: whether floats, how many are NaN or infinite, its SHA-1 if somebody recorded one."""

    floats: bool
    nonfinite: int
    nan: int
    sha1: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What a file holds: slices by offset and length, its SHA-1 if wanted, and paddings that are not zero."""

    slices: Mapping[tuple[int, int], Slice]
    sha1: str
    hidden: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Reader:
    start: int
    end: int
    padding: bool = False
    counter: "FiniteCounter | None" = None
    sha1: "_Hash | None" = None
    sha256: "_Hash | None" = None
    dirty: bool = field(default=False)

    def feed(self, chunk: memoryview) -> None:
        if self.counter is not None:
            self.counter.feed(chunk)
        if self.sha1 is not None:
            self.sha1.update(chunk)
        if self.sha256 is not None:
            self.sha256.update(chunk)
        if self.padding:
            self.dirty = self.dirty or chunk.tobytes().strip(b"\0") != b""


def stream(chunks: Iterable[bytes | memoryview], size: int, extents: Sequence[Extent]) -> Streamed:
    """Read a file's chunks once; the extents of that file are inside it and overlap only where they are the same."""
    slices = _readers(extents)
    paddings = [
        _Reader(at, at + length, padding=True) for _, at, length in gaps(extents, {e.path: size for e in extents})
    ]
    whole = hashlib.sha1(usedforsecurity=False) if any(e.checksum for e in extents) else None
    order = sorted([*slices.values(), *paddings], key=lambda r: r.start)
    first, at = 0, 0
    for chunk in chunks:
        view = memoryview(chunk)
        if whole is not None:
            whole.update(view)
        # Disjoint readers in order: those before `first` are done, those that start behind the chunk have to wait.
        while first < len(order) and order[first].end <= at:
            first += 1
        index = first
        while index < len(order) and order[index].start < at + len(view):
            reader = order[index]
            reader.feed(view[max(0, reader.start - at) : reader.end - at])
            index += 1
        at += len(view)
    return Streamed(
        slices={key: _slice(reader) for key, reader in slices.items()},
        sha1=whole.hexdigest() if whole else "",
        hidden=tuple((r.start, r.end - r.start) for r in paddings if r.dirty),
    )


def _readers(extents: Sequence[Extent]) -> dict[tuple[int, int], _Reader]:
    from calaudit.finite import FiniteCounter  # noqa: PLC0415 - heavy

    readers: dict[tuple[int, int], _Reader] = {}
    for extent in extents:
        key = (extent.offset, extent.length)
        reader = readers.setdefault(key, _Reader(extent.offset, extent.end, counter=FiniteCounter.of(extent.dtype)))
        reader.sha256 = hashlib.sha256()
        if extent.checksum and reader.sha1 is None:
            reader.sha1 = hashlib.sha1(usedforsecurity=False)
    return readers


def _slice(reader: _Reader) -> Slice:
    counter = reader.counter
    return Slice(
        floats=counter is not None,
        nonfinite=counter.nonfinite if counter else 0,
        nan=counter.nan if counter else 0,
        sha1=reader.sha1.hexdigest() if reader.sha1 else "",
        sha256=reader.sha256.hexdigest() if reader.sha256 else "",
    )
