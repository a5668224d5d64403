"""Read a file again, and vouch that it still has the bytes that were hashed."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from calaudit.errors import MissingFact
from calaudit.evidence.reader import BUFFER, ChangedError, Opener, Reading, new_buffer, read_exactly
from calaudit.model import Location

ROOT_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def _opened(root: Path, reading: Reading) -> Iterator[int]:
    """A descriptor of the file; what goes wrong meanwhile becomes MissingFact."""
    path = reading.found.path
    try:
        folder = os.open(root, ROOT_FLAGS)
        try:
            opener = Opener(folder)
            try:
                fd = opener.open(reading.found.raw)
            finally:
                opener.close()
        finally:
            os.close(folder)
        try:
            yield fd
        finally:
            os.close(fd)
    except (OSError, ChangedError) as error:
        raise MissingFact(f"{path} changed after it was hashed; run again.", at=Location(path=path)) from error


def whole(root: Path, reading: Reading) -> bytes:
    """All bytes of a file.

    Raises:
        MissingFact: it is no longer what was hashed.
    """
    with _opened(root, reading) as fd:
        data = read_exactly(fd, reading.found.size)
        if hashlib.sha256(data).hexdigest() != reading.sha256:
            raise ChangedError
        return data


def stream(root: Path, reading: Reading) -> Iterator[memoryview]:
    """The bytes of a file in pieces that are valid until the next one is asked for.

    Raises:
        MissingFact: they are not what was hashed: before the piece that differs where the reading has marks, else
            before the last piece.
    """
    with _opened(root, reading) as fd:
        yield from _marked(fd, reading.marks) if reading.marks else _unmarked(fd, reading)


def _unmarked(fd: int, reading: Reading) -> Iterator[memoryview]:
    missing = reading.found.size
    hasher = hashlib.sha256()
    view = memoryview(new_buffer())
    while missing > 0:
        piece = _next(fd, view[: min(missing, BUFFER)])
        missing -= len(piece)
        hasher.update(piece)
        if not missing and hasher.hexdigest() != reading.sha256:
            raise ChangedError
        yield piece


def _marked(fd: int, marks: Sequence[tuple[int, bytes]]) -> Iterator[memoryview]:
    hasher = hashlib.sha256()
    start = 0
    view = memoryview(new_buffer(max(end - begin for (begin, _), (end, _) in pairwise([(0, b""), *marks]))))
    for end, digest in marks:
        filled = 0
        while filled < end - start:
            filled += len(_next(fd, view[filled : end - start]))
        hasher.update(view[:filled])
        if hasher.copy().digest() != digest:
            raise ChangedError
        yield view[:filled]
        start = end


def _next(fd: int, view: memoryview) -> memoryview:
    length = os.readv(fd, (view,))
    if not length:
        raise ChangedError
    return view[:length]
