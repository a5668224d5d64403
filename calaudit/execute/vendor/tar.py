"""Reading tar archives without believing anything in them.

``tarfile`` takes whatever it can make sense of, and ends at what it cannot. Here an archive is POSIX or GNU tar with
regular files and folders in it, to its last byte, or it is refused.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from calaudit.errors import Malformed
from calaudit.execute.vendor.places import read_name
from calaudit.execute.vendor.tar_headers import (
    BLOCK,
    COMPRESSED,
    EXTENDED_MAX,
    FILE,
    FOLDER,
    LONG_NAME,
    PAX,
    REFUSED,
    agreed,
    headed,
    parse,
    records,
)

__all__ = ["Limits", "Member", "Sink", "unpack"]

_CHUNK = 1 << 20
_ENDS = b"\0" * BLOCK


@dataclass(frozen=True, slots=True)
class Member:
    """One regular file of an archive, at most ``size`` bytes of it."""

    path: str
    size: int


class Sink(Protocol):
    """Where the bytes of one member go; left when there are no more, or in an error."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def write(self, data: bytes, /) -> object:
        """Take some bytes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much an archive may hold: regular files and folders, and bytes of the files together."""

    members: int = 20_000
    size: int = 16 << 30


def unpack(file: BinaryIO, take: Callable[[Member], Sink], limits: Limits, folder: Callable[[str], None]) -> None:
    """Read an archive whole: ``take`` says where the bytes of a member go, ``folder`` is told each folder.

    Raises:
        Malformed: it is no archive of regular files and folders, is cut off, or holds too much.
    """
    _Reader(file, take, limits, folder).run()


@dataclass(slots=True)
class _Reader:
    file: BinaryIO
    take: Callable[[Member], Sink]
    limits: Limits
    folder: Callable[[str], None]
    left: int = 0
    members: int = 0

    def run(self) -> None:
        self.left = self.limits.size
        first = True
        while (block := self._block(first=first)) != _ENDS:
            first = False
            self._member(block)
        self._end()

    def _member(self, block: bytes) -> None:
        kind, raw, size = parse(block)
        if kind in (PAX, LONG_NAME):
            extended, size_told = self._extended(kind, size)
            following = self._block()
            kind, short, size = parse(following)
            if kind in (PAX, LONG_NAME):
                raise Malformed("Two headers stand before one member; only one does.")
            raw = short if extended is None else extended
            size = agreed(size, size_told)
        if kind not in (FILE, FOLDER):
            what = REFUSED.get(kind, f"of the unknown kind {kind!r}")
            raise Malformed(f"The member {raw.decode('utf-8', 'replace')!a} is {what}; only files are received.")
        self.members += 1
        if self.members > self.limits.members:
            raise Malformed(f"It has more than {self.limits.members} members.")
        path = read_name(raw)
        if kind == FOLDER:
            if size:
                raise Malformed(f"The folder {path} has content.")
            if path:
                self.folder(path)
            return
        if not path or raw.endswith(b"/"):
            raise Malformed(f"The member {raw.decode('utf-8', 'replace')!a} is a file with the name of a folder.")
        self._content(Member(path, size))

    def _content(self, member: Member) -> None:
        if member.size > self.left:
            raise Malformed(
                f"With {member.path} ({member.size} bytes) it holds more than {self.limits.size} bytes; --max-bytes "
                "allows more."
            )
        self.left -= member.size
        with self.take(member) as out:
            for chunk in self._bytes(member.size):
                out.write(chunk)

    def _extended(self, kind: bytes, size: int) -> tuple[bytes | None, int | None]:
        """The name and the size that a header before a member gives it."""
        if not 0 < size <= EXTENDED_MAX:
            raise Malformed(f"An extended header has {size} bytes; 1 to {EXTENDED_MAX} are read.")
        data = b"".join(self._bytes(size))
        if kind == LONG_NAME:
            if data.count(b"\0") != 1 or not data.endswith(b"\0"):
                raise Malformed("A long name does not end where it says.")
            return data[:-1], None
        told = dict(records(data))
        number = told.get("size")
        if number is not None and not re.fullmatch(rb"0|[1-9][0-9]{0,17}", number):
            raise Malformed("An extended header gives a size that is no number.")
        return told.get("path"), None if number is None else int(number)

    def _bytes(self, size: int) -> Iterator[bytes]:
        """So many bytes, and the zeros after them that fill a block."""
        left = size
        while left:
            chunk = self.file.read(min(left, _CHUNK))
            if not chunk:
                raise Malformed("It is cut off inside a file.")
            left -= len(chunk)
            yield chunk
        rest = -size % BLOCK
        if self.file.read(rest) != b"\0" * rest:
            raise Malformed("Between two members stands something else than zeros, or it is cut off.")

    def _block(self, *, first: bool = False) -> bytes:
        block = self.file.read(BLOCK)
        if first:
            for magic, name in COMPRESSED.items():
                if block.startswith(magic):
                    raise Malformed(
                        f"It is compressed ({name}). Unpack that first: an archive is received as plain tar."
                    )
            if 0 < len(block) < BLOCK and not headed(block):
                raise Malformed("It is no tar archive: it is shorter than the header of one.")
        if len(block) < BLOCK:
            raise Malformed(
                "It is cut off: an archive ends with two blocks of zeros." if block or not first else "It is empty."
            )
        return block

    def _end(self) -> None:
        """Nothing but zeros stands after the end."""
        if self.file.read(BLOCK) != _ENDS:
            raise Malformed("It is cut off, or goes on after its end: an archive ends with two blocks of zeros.")
        left = self.limits.size
        while chunk := self.file.read(_CHUNK):
            left -= len(chunk)
            if chunk.strip(b"\0") or left < 0:
                raise Malformed("Something stands after the end of the archive.")
