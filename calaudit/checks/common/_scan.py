"""Searching the text of a gate's files for patterns of bytes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from calaudit.checks.view import View
from calaudit.evidence import Block, Entry
from calaudit.model import Format, Location

TEXTUAL = frozenset({Format.JSON, Format.JSONL, Format.YAML, Format.CSV, Format.CHECKSUMS, Format.TEXT})

_IDLE = b'0123456789 \t\r\n,[]{}"'
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Something that must not stand in a file.

    Every match contains one of ``hints``, in lower case where ``caseless``, and ``shape`` once its digits are read as
    zeros: a file without is not searched, which is most of the speed. Hints hold nothing of what numbers and lists of
    them are written with. ``free_text`` says whether documents of foreign origin (a tokenizer's vocabulary, prompts)
    are searched too.
    """

    what: str
    hints: tuple[bytes, ...]
    regex: bytes
    caseless: bool = False
    free_text: bool = True
    shape: bytes = b""
    compiled: re.Pattern[bytes] = field(init=False)

    def __post_init__(self) -> None:
        if any(hint.translate(None, _IDLE) != hint for hint in self.hints):
            raise ValueError(f"A hint of {self.what} holds a byte that is left out before hints are looked for.")
        object.__setattr__(self, "compiled", re.compile(self.regex, re.IGNORECASE if self.caseless else 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One match."""

    what: str
    text: bytes
    at: Location


def scan(view: View, patterns: Sequence[Pattern]) -> Iterator[Hit]:
    """Search every file of the gate that holds text, whether or not the contract says so, counting each as examined."""
    for entry in view.each(e for e in view.entries() if is_text(e) or _looks_like_text(e) or _has_metadata(e)):
        wanted = [pattern for pattern in patterns if pattern.free_text or has_no_free_text(entry)]
        for block in _blocks(view, entry):
            quick = _Quick(block.data)
            for pattern in wanted:
                if not quick.may_hold(pattern):
                    continue
                for match, line in matches(pattern.compiled, block):
                    at = Location(path=entry.path, line=None if _has_metadata(entry) else line)
                    yield Hit(what=pattern.what, text=match[0], at=at)


def may_match(pattern: Pattern, text: bytes) -> bool:
    """Whether a pattern is searched for in a text at all; wrong only by saying yes."""
    return _Quick(text).may_hold(pattern)


class _Quick:
    """A text in the forms in which hints are looked for, each made when the first pattern asks for it."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        # A hint that stands in a text still stands in it without the idle bytes: of a list of logits a third is left.
        self._plain = text.translate(None, _IDLE)

    @cached_property
    def _lower(self) -> bytes:
        return self._plain.lower()

    def may_hold(self, pattern: Pattern) -> bool:
        """Whether a pattern may match; wrong only by saying yes."""
        text = self._lower if pattern.caseless else self._plain
        # One byte is found, or not found, some twenty times as fast as a word; most texts lack one of each word.
        hinted = any(all(map(text.__contains__, hint)) and hint in text for hint in pattern.hints)
        return hinted and (not pattern.shape or pattern.shape in self._text.translate(_ZEROS))


def matches(regex: re.Pattern[bytes], block: Block) -> Iterator[tuple[re.Match[bytes], int]]:
    """Every match with its line; lines are counted once, however many matches there are."""
    line, last = block.line, 0
    for match in regex.finditer(block.data):
        line += block.data.count(b"\n", last, match.start())
        last = match.start()
        yield match, line


def _blocks(view: View, entry: Entry) -> Iterator[Block]:
    if entry.spec is not None and entry.spec.format is Format.SAFETENSORS:
        yield Block(1, view.evidence.head(entry.path))  # names and metadata; what follows are numbers
    else:
        yield from view.evidence.blocks(entry.path)


def is_text(entry: Entry) -> bool:
    """Whether the contract reads the file as text."""
    return entry.spec is not None and entry.spec.format in TEXTUAL


def _has_metadata(entry: Entry) -> bool:
    """Whether the file is a model, which carries names, notes and metadata."""
    return entry.spec is not None and entry.spec.format in (Format.ONNX, Format.SAFETENSORS)


def _looks_like_text(entry: Entry) -> bool:
    """Whether a file that the contract does not read (opaque, or unknown) begins like text."""
    return entry.textual and (entry.spec is None or entry.spec.format is Format.OPAQUE)


def has_no_free_text(entry: Entry) -> bool:
    """Whether a file is written by whoever makes the port: no prompts, no vocabulary."""
    free_text = entry.spec is not None and bool(entry.spec.free_text)
    return not free_text and not entry.path.startswith("00-source/hf-config/")
