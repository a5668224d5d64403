"""Open a file the walk found and read its bytes once, hashing them as they come.

Opens follow no link and start at the port's root descriptor, folder by folder. A file is what the walk saw: after the
last byte ``fstat`` must still say the same device, inode, size and times, or the file changed while it was read.
"""

import hashlib
import mmap
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from calaudit.evidence.found import Found, identity
from calaudit.evidence.walk import FOLDER_FLAGS
from calaudit.model import Kind, Location, Problem

BUFFER = 1 << 20
"""Bytes of one read of a long file, into a page-aligned buffer (into a ``bytearray`` it takes up to a third longer)."""

HEAD = 1 << 20
"""Bytes of the beginning of a tensor file that stay in memory when the whole does not."""

SNIFF = 8192
"""Bytes of the beginning of a file that say whether it looks like text."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A file that was read whole: its digest, whether it looks like text, and what of it stays in memory.

    ``marks`` are offsets, the last at the end, each with the SHA-256 of the file up to there: a part of a long file can
    be trusted as soon as it was read again.
    """

    found: Found
    sha256: str
    textual: bool
    data: bytes | None = None
    head: bytes = b""
    marks: tuple[tuple[int, bytes], ...] = ()


class ChangedError(Exception):
    """A file is not, or no longer, what the walk saw."""


class Opener:
    """Opens files below a folder without following a link; keeps the chain of folders of the last file open."""

    def __init__(self, root: int) -> None:
        """``root`` stays the caller's."""
        self._root = root
        self._names: list[str] = []
        self._fds: list[int] = []

    def open(self, raw: str) -> int:
        """A descriptor of a regular file, by its path on disk.

        Raises:
            OSError: it, or a folder above it, cannot be opened.
            ChangedError: it is not a regular file (any more).
        """
        *folders, name = raw.split("/")
        common = 0
        for known, wanted in zip(self._names, folders, strict=False):
            if known != wanted:
                break
            common += 1
        self._drop(common)
        for folder in folders[common:]:
            self._fds.append(os.open(folder, FOLDER_FLAGS, dir_fd=self._fds[-1] if self._fds else self._root))
            self._names.append(folder)
        return os.open(name, _FLAGS, dir_fd=self._fds[-1] if self._fds else self._root)

    def close(self) -> None:
        """Close the folders."""
        self._drop(0)

    def _drop(self, keep: int) -> None:
        while len(self._fds) > keep:
            os.close(self._fds.pop())
            self._names.pop()


def check_same(fd: int, found: Found) -> None:
    """Whether a descriptor still is the file that the walk saw.

    Raises:
        ChangedError: its identity, size or a time differs.
    """
    now = os.fstat(fd)
    if identity(now) != found[2:] or not stat.S_ISREG(now.st_mode):
        raise ChangedError


def new_buffer(size: int = BUFFER) -> mmap.mmap:
    """A page-aligned buffer in memory that belongs to no file."""
    return mmap.mmap(-1, size)


def read_whole(opener: Opener, found: Found) -> Reading:
    """Read a file into memory, for a parser or for later.

    Raises:
        OSError: it cannot be read.
        ChangedError: it changed meanwhile.
    """
    fd = opener.open(found.raw)
    try:
        data = read_exactly(fd, found.size)
        check_same(fd, found)
    finally:
        os.close(fd)
    return Reading(found=found, sha256=hashlib.sha256(data).hexdigest(), textual=is_textual(data), data=data)


def read_scanned(opener: Opener, found: Found, look: Callable[[bytes], None]) -> Reading:
    """Read a file of any length and show each block to ``look``.

    Raises:
        OSError: it cannot be read.
        ChangedError: it changed meanwhile.
    """
    hasher = hashlib.sha256()
    missing = found.size
    textual = True
    fd = opener.open(found.raw)
    try:
        while missing > 0:
            data = read_exactly(fd, min(missing, BUFFER))
            textual = textual and (missing != found.size or is_textual(data))
            missing -= len(data)
            hasher.update(data)
            look(data)
        check_same(fd, found)
    finally:
        os.close(fd)
    return Reading(found=found, sha256=hasher.hexdigest(), textual=textual)


def read_exactly(fd: int, size: int) -> bytes:
    """So many bytes from a descriptor.

    Raises:
        ChangedError: the file ends before.
    """
    data = os.read(fd, size)
    if len(data) == size:
        return data
    parts = [data]
    missing = size - len(data)
    while missing:
        part = os.read(fd, missing)
        if not part:
            raise ChangedError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def is_textual(start: bytes | mmap.mmap, length: int = SNIFF) -> bool:
    """Whether a file that begins so looks like text: no NUL byte in its first bytes."""
    return start.find(b"\0", 0, min(length, SNIFF)) < 0


def unread(found: Found, error: Exception) -> Problem:
    """Why a file gives no entry."""
    if isinstance(error, ChangedError):
        return Problem(
            rule="changed-while-read",
            message="The file changed while it was read; stop what writes to it, then run again.",
            location=Location(path=found.path),
        )
    reason = error.strerror if isinstance(error, OSError) else "the process that parsed it ended early"
    return Problem(
        rule="file-unreadable",
        message=f"The file cannot be read ({reason}); make it readable, then run again.",
        location=Location(path=found.path),
        kind=Kind.OPEN,
    )
