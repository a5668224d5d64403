r"""The one strict JSON parser: orjson, and an exact guard for what it lets through.

orjson refuses NaN, Infinity, overflow, invalid UTF-8, lone surrogates, a byte order mark and trailing bytes. It keeps
the last of two equal keys, rounds integers beyond 64 bits to doubles and allows 1024 levels. The guard sees all three:
a document in which every key was kept has exactly two unescaped quotes for each key and each string value that came
out. A number that underflows becomes zero, as everywhere; ``\u0000`` in a string is legal JSON and stays.
"""

from collections.abc import Iterable
from typing import Any

import orjson

from calaudit.errors import Malformed
from calaudit.evidence import slow_json
from calaudit.evidence.numbers import FLOAT_SUSPECT
from calaudit.evidence.slow_json import MAX_DEPTH
from calaudit.model import Json


def parse_json(data: bytes) -> Json:
    """The value of a JSON document.

    Raises:
        Malformed: the bytes are not one strict document, with the place of the first fault where it is known.
    """
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"Not JSON: {error.msg}.", line=error.lineno, column=error.colno) from error
    if not is_sound(data, value):
        slow_json.check(data, value)
    return value


def is_sound(data: bytes, value: Json) -> bool:
    """Whether a value that orjson read from these bytes surely lost nothing. False means: look closer."""
    return quotes(data) == 2 * strings(value)


def quotes(data: bytes) -> int:
    """How many quotes delimit strings in valid JSON."""
    if b"\\" in data:
        # Pairs first: what is left of a run of backslashes is then exactly the one that escapes the next character.
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return data.count(b'"')


def strings(value: Json) -> int:
    """How many keys and string values a value has; -1 if it is too deep or holds a double that may be a big integer."""
    if type(value) is not dict and type(value) is not list:
        return -1 if type(value) is float and _suspect((value,)) else int(type(value) is str)
    count = 0
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if type(item) is dict:
                count += len(item)
                members: Any = item.values()
            else:
                members = item
            kinds = set(map(type, members))
            if str in kinds:
                count += len(members) if len(kinds) == 1 else list(map(type, members)).count(str)
            if float in kinds and _suspect(members if len(kinds) == 1 else [m for m in members if type(m) is float]):
                return -1
            if dict in kinds or list in kinds:
                below += [m for m in members if type(m) is dict or type(m) is list]
        if not below:
            return count
        level = below
    return -1


def _suspect(numbers: Iterable[float]) -> bool:
    return max(numbers) >= FLOAT_SUSPECT or min(numbers) <= -FLOAT_SUSPECT
