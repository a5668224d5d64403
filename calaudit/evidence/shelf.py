"""The bytes of the files of a port: from memory where they stayed, else read again and compared with their digest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from calaudit.errors import MissingFact
from calaudit.evidence.documents import Parsed
from calaudit.evidence.lines import Lines
from calaudit.evidence.nouns import DOCUMENT_LIMIT, Block, Entry
from calaudit.evidence.reader import HEAD, Reading
from calaudit.evidence.reread import stream, whole
from calaudit.model import Location

READ_LIMIT = 256 << 20
"""Bytes that :meth:`Shelf.read` hands out as a whole."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is known of one entry besides its noun; ``parsed`` is None for a file that evidence does not parse."""

    reading: Reading
    parsed: Parsed | None


class Shelf:
    """The entries of a port and their bytes."""

    def __init__(self, root: Path, entries: Mapping[str, Entry], contents: Mapping[str, Content]) -> None:
        """``entries`` are sorted by path; ``contents`` has one for each of them."""
        self.entries: Mapping[str, Entry] = MappingProxyType(dict(entries))
        self._root = root
        self._contents = contents

    def entry(self, path: str) -> Entry:
        """The entry of a path.

        Raises:
            MissingFact: there is no such file, or it could not be read.
        """
        found = self.entries.get(path)
        if found is None:
            raise MissingFact(f"{path} is missing or could not be read.", at=Location(path=path))
        return found

    def read(self, path: str, *, limit: int = READ_LIMIT) -> bytes:
        """The bytes of a file.

        Raises:
            MissingFact: it is absent, has more than ``limit`` bytes, or is no longer what was hashed.
        """
        size = self.entry(path).size
        if size > limit:
            raise MissingFact(f"{path} has {size} bytes, more than the {limit} that are read.", at=Location(path=path))
        reading = self._contents[path].reading
        return reading.data if reading.data is not None else whole(self._root, reading)

    def text(self, path: str) -> str:
        """The text of a file that is UTF-8, whatever its format.

        Raises:
            MissingFact: it is absent, not UTF-8, or longer than 64 MiB.
        """
        data = self.read(path, limit=DOCUMENT_LIMIT)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise MissingFact(f"{path} is not UTF-8 text.", at=Location(path=path)) from error

    def head(self, path: str, size: int = HEAD) -> bytes:
        """The first bytes of a file (all, if it has no more), such as the header of a tensor file.

        Raises:
            MissingFact: it is absent, or had to be read again and is no longer what was hashed.
        """
        wanted = min(size, self.entry(path).size)
        reading = self._contents[path].reading
        known = reading.data if reading.data is not None else reading.head
        if len(known) >= wanted:
            return known[:wanted]
        parts: list[bytes] = []
        for chunk in stream(self._root, reading):  # to the end: the digest is of the whole file
            if wanted:
                parts.append(bytes(chunk[:wanted]))
                wanted -= len(parts[-1])
        return b"".join(parts)

    def chunks(self, path: str) -> Iterator[memoryview]:
        """The bytes of a file of any size, in pieces that are valid until the next one is asked for.

        Go to the end: only then is it known that they are the bytes that were hashed.

        Raises:
            MissingFact: it is absent; at the end, when it is no longer what was hashed.
        """
        self.entry(path)
        reading = self._contents[path].reading
        return iter([memoryview(reading.data)]) if reading.data is not None else stream(self._root, reading)

    def blocks(self, path: str) -> Iterator[Block]:
        """The lines of a file of any size, some megabytes at a time; go to the end, as with :meth:`chunks`.

        Raises:
            MissingFact: as :meth:`chunks`.
        """
        lines = Lines()
        for chunk in self.chunks(path):
            block = lines.feed(bytes(chunk))
            if block is not None:
                yield block
        if (block := lines.finish()) is not None:
            yield block
