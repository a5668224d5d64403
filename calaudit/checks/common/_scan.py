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
    """Search every textual file of the gate, counting each as examined."""
    for entry in view.each(e for e in view.entries() if is_text(e)):
        data = view.evidence.read(entry.path)
        for pattern in patterns:
            if pattern.hint not in data or not (pattern.free_text or has_no_free_text(entry)):
                continue
            for match in pattern.compiled.finditer(data):
                line = data.count(b"\n", 0, match.start()) + 1
                yield Hit(what=pattern.what, text=match[0], at=Location(path=entry.path, line=line))


def is_text(entry: Entry) -> bool:
    """Whether the contract reads the file as text."""
    return entry.spec is not None and entry.spec.format in TEXTUAL


def has_no_free_text(entry: Entry) -> bool:
    """Whether a file is written by whoever makes the port: no prompts, no vocabulary."""
    return entry.spec is not None and not entry.spec.free_text and not entry.path.startswith("00-source/hf-config/")
