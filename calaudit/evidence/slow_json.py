"""The slow look at JSON that a fast parser accepted: where is the key that is given twice, the integer that is too big?

Also says on which line each JSON pointer stands. It relies on the syntax being valid.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from calaudit.errors import Malformed
from calaudit.evidence.numbers import integer, shorten
from calaudit.model import Json
from calaudit.pointers import escape

MAX_DEPTH = 64
"""How deep objects and arrays may nest."""

SCAN_LIMIT = 8 << 20
"""Bytes up to which the place of a fault is looked for: a scan in Python takes a second for some megabytes."""

FOREIGN_DIGITS = 80
"""Digits of an integer that a foreign document may hold; those beyond 64 bits are read as doubles."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^ \t\r\n{}\[\],:"]+', re.DOTALL)
_INTEGER = re.compile(r"-?[0-9]+").fullmatch


class Place(NamedTuple):
    """A value: its JSON pointer, and the offset in the text at which it (or its key) begins."""

    pointer: str
    offset: int


def check(data: bytes, value: Json, *, foreign: bool = False) -> None:
    """Find what the fast guard suspected of these bytes, from which ``value`` was read.

    A ``foreign`` document may hold integers of up to :data:`FOREIGN_DIGITS` digits.

    Raises:
        Malformed: a key is given twice, an integer has more than 64 bits, or nesting is too deep.
    """
    if len(data) <= SCAN_LIMIT:
        for _ in scan(data.decode(), foreign=foreign):
            pass
        return
    if _too_deep(value):
        raise Malformed(f"Nesting is deeper than {MAX_DEPTH} levels; flatten the document.")
    json.loads(data, object_pairs_hook=_unique, parse_int=_foreign_integer if foreign else integer)


def scan(text: str, *, foreign: bool = False) -> Iterator[Place]:  # noqa: C901 - one loop over tokens: the grammar is this small
    """Every value of a valid JSON text with its pointer, in order.

    Raises:
        Malformed: as :func:`check`, with line, column and pointer.
    """
    # For each container around the current value: the keys seen (None: an array), its pointer, and the next index.
    outer: list[tuple[set[str] | None, str, int]] = []
    keys: set[str] | None = None
    prefix, index = "", 0
    pointer, start = "", 0
    wants_key = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        first = token[0]
        if first == ",":
            index += 1
            wants_key = keys is not None
        elif first == ":":
            wants_key = False
        elif first in "}]":
            keys, prefix, index = outer.pop()
            wants_key = False
        elif wants_key and keys is not None:
            key: str = json.loads(token)
            pointer, start = f"{prefix}/{escape(key)}", match.start()
            if key in keys:
                raise _fault(text, start, f"The key {shorten(key)!r} is given twice; keep one.", pointer)
            keys.add(key)
        else:
            if keys is None:
                pointer, start = f"{prefix}/{index}" if outer else "", match.start()
            yield Place(pointer, start)
            if first in "{[":
                if len(outer) >= MAX_DEPTH:
                    raise _fault(text, start, f"Nesting is deeper than {MAX_DEPTH} levels; flatten it.", pointer)
                outer.append((keys, prefix, index))
                keys, prefix, index = (set() if first == "{" else None), pointer, 0
                wants_key = first == "{"
            elif _INTEGER(token):
                try:
                    (_foreign_integer if foreign else integer)(token)
                except Malformed as error:
                    raise _fault(text, start, error.message, pointer) from error


def _foreign_integer(literal: str) -> float:
    return float(literal) if len(literal) <= FOREIGN_DIGITS else integer(literal)


def line_at(text: str, offset: int) -> int:
    """The line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1


def _fault(text: str, offset: int, message: str, pointer: str) -> Malformed:
    column = offset - text.rfind("\n", 0, offset)
    return Malformed(message, line=line_at(text, offset), column=column, pointer=pointer)


def _too_deep(value: Json) -> bool:
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        members = (m for item in level for m in (item.values() if isinstance(item, dict) else item))
        level = [m for m in members if isinstance(m, dict | list)]
    return bool(level)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Malformed(f"The key {shorten(twice)!r} is given twice; keep one.")
    return members
