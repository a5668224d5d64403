"""Searching the text of a gate's files for patterns of bytes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from calaudit.checks.view import View
from calaudit.evidence import Entry
from calaudit.model import Format, Location

TEXTUAL = frozenset({Format.JSON, Format.JSONL, Format.YAML, Format.CSV, Format.CHECKSUMS, Format.TEXT})


@dataclass(frozen=True, slots=True)
class Pattern:
    """Something that must not stand in a file.

    ``hint`` are bytes that every match contains: a file without them is not searched, which is most of the speed.
    ``free_text`` says whether documents of foreign origin (a tokenizer's vocabulary, prompts) are searched too.
    """

    what: str
    hint: bytes
    regex: bytes
    free_text: bool = True
    compiled: re.Pattern[bytes] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.regex))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One match."""

    what: str
    text: bytes
    at: Location


def scan(view: View, patterns: Sequence[Pattern]) -> Iterator[Hit]:
    """Search every file of the gate that is text, whether or not the contract says so, counting each as examined."""
    for entry in view.each(e for e in view.entries() if is_text(e) or _looks_like_text(e)):
        wanted = [pattern for pattern in patterns if pattern.free_text or has_no_free_text(entry)]
        for block in view.evidence.blocks(entry.path):
            for pattern in wanted:
                if pattern.hint not in block.data:
                    continue
                for match in pattern.compiled.finditer(block.data):
                    line = block.line + block.data.count(b"\n", 0, match.start())
                    yield Hit(what=pattern.what, text=match[0], at=Location(path=entry.path, line=line))


def is_text(entry: Entry) -> bool:
    """Whether the contract reads the file as text."""
    return entry.spec is not None and entry.spec.format in TEXTUAL


def _looks_like_text(entry: Entry) -> bool:
    """Whether a file that the contract does not read (opaque, or unknown) begins like text."""
    return entry.textual and (entry.spec is None or entry.spec.format is Format.OPAQUE)


def has_no_free_text(entry: Entry) -> bool:
    """Whether a file is written by whoever makes the port: no prompts, no vocabulary."""
    free_text = entry.spec is not None and bool(entry.spec.free_text)
    return not free_text and not entry.path.startswith("00-source/hf-config/")
