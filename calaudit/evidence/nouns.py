"""What the evidence station hands out, and what it asks of the contract; frozen, without I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from calaudit.model import ArtifactSpec, Json

DOCUMENT_LIMIT = 64 << 20
"""Bytes that a file may have to be parsed or read as a whole; records and texts are read in blocks beyond it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One regular file whose bytes were read whole.

    ``size`` is in bytes, ``spec`` the artifact it is (None: the contract does not know it), ``gate`` whose matter it
    is. ``textual`` says that its beginning holds no NUL byte: what a scan for secrets looks into.
    """

    path: str
    size: int
    sha256: str
    spec: ArtifactSpec | None
    gate: str
    textual: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One JSONL line or CSV row; ``line`` counts from 1."""

    line: int
    value: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Checksum:
    """One line of a checksum list; ``path`` is in NFC and has neither ``..`` nor a leading ``/``."""

    line: int
    sha256: str
    path: str


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a text-like file; ``line`` is the number of the first, from 1."""

    line: int
    data: bytes


class PlaceholderWords(Protocol):
    """Which values say "not filled in yet"."""

    def is_placeholder(self, value: object) -> bool:
        """Whether a value stands for one that somebody still has to fill in."""
        ...


class Matcher(Protocol):
    """A compiled glob."""

    def matches(self, path: str) -> bool:
        """Whether the whole path fits the pattern."""
        ...


class Specs(Protocol):
    """What evidence asks of the gates (``calaudit.contract.gates.Gates``)."""

    @property
    def placeholders(self) -> PlaceholderWords:
        """The placeholders of the contract."""
        ...

    def match(self, path: str) -> ArtifactSpec | None:
        """The artifact that a path is."""
        ...

    def gate_of(self, path: str) -> str:
        """The gate whose matter a path is."""
        ...

    def glob(self, pattern: str) -> Matcher:
        """A compiled pattern."""
        ...


class SchemaFault(Protocol):
    """One place where a value departs from its schema."""

    @property
    def pointer(self) -> str:
        """The JSON pointer of the place."""
        ...

    @property
    def message(self) -> str:
        """What is wrong there."""
        ...


class SchemaBook(Protocol):
    """What evidence asks of the schemas (``calaudit.contract.schemas.Schemas``)."""

    def is_valid(self, name: str, value: Json) -> bool:
        """Whether a value follows the named schema."""
        ...

    def errors(self, name: str, value: Json) -> Iterable[SchemaFault]:
        """Every place where it does not."""
        ...

    def tag(self, name: str) -> str | None:
        """The tag that documents of the named schema carry."""
        ...
