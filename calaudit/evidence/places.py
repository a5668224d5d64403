"""The line on which the value of a JSON pointer (RFC 6901) stands in a document."""

from typing import Any

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from calaudit.errors import Malformed
from calaudit.evidence.slow_json import scan
from calaudit.model import Format
from calaudit.pointers import escape

LOCATE_LIMIT = 4 << 20
"""Bytes up to which lines are looked up: the table of a document has an entry for each value."""


def lines_of(data: bytes, kind: Format) -> dict[str, int]:
    """The line of every JSON pointer of a good document; empty where that cannot be said."""
    if len(data) > LOCATE_LIMIT:
        return {}
    try:
        return _yaml_lines(data) if kind is Format.YAML else _json_lines(data.decode())
    except (Malformed, YAMLError, UnicodeDecodeError):
        return {}


def nearest(lines: dict[str, int], pointer: str) -> int | None:
    """The line of a pointer, or of the innermost value around it."""
    while pointer not in lines:
        if not pointer:
            return None
        pointer = pointer.rpartition("/")[0]
    return lines[pointer]


def _json_lines(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    line, last = 1, 0
    for pointer, offset in scan(text):
        line += text.count("\n", last, offset)
        last = offset
        lines[pointer] = line
    return lines


def _yaml_lines(data: bytes) -> dict[str, int]:
    lines: dict[str, int] = {}
    # For each container around the current value: whether it is a mapping, its pointer, and the next index.
    outer: list[tuple[bool, str, int]] = []
    mapping, prefix, index = False, "", 0
    pointer: str | None = ""
    get_event: Any = CParser(data).get_event
    while (event := get_event()) is not None:
        kind = type(event)
        if kind is MappingEndEvent or kind is SequenceEndEvent:
            mapping, prefix, index = outer.pop()
            pointer = None if mapping else f"{prefix}/{index}"
            continue
        if kind is not ScalarEvent and kind is not MappingStartEvent and kind is not SequenceStartEvent:
            continue
        if mapping and pointer is None:
            pointer = f"{prefix}/{escape(event.value)}"
            lines[pointer] = event.start_mark.line + 1
            continue
        assert pointer is not None  # noqa: S101 - a value of a sequence or of the document
        lines.setdefault(pointer, event.start_mark.line + 1)
        if kind is ScalarEvent:
            index += 1
        else:
            outer.append((mapping, prefix, index + 1))
            mapping, prefix, index = kind is MappingStartEvent, pointer, 0
        pointer = None if mapping else f"{prefix}/{index}"
    return lines
