r"""The one strict JSON parser: orjson, and an exact guard for what it lets through.

orjson refuses NaN, Infinity, overflow, invalid UTF-8, lone surrogates, a byte order mark and trailing bytes. It keeps
the last of two equal keys, rounds integers beyond 64 bits to doubles and allows 1024 levels. The guard sees all three:
a document in which every key was kept has exactly two unescaped quotes for each key and each string value that came
out. A number that underflows becomes zero, as everywhere; ``\u0000`` in a string is legal JSON and stays.

What came out is counted in the text that orjson writes of it: a C loop over bytes instead of a Python loop over values.
That text escapes the quotes that the document escapes, so all quotes are counted on both sides, unless the document
spells one ``\u0022``. Where the text cannot say (that, or it is long, nests deep, or the bytes may hold a big integer)
the values are walked.
"""

from typing import Any

import orjson

from calaudit.errors import Malformed
from calaudit.evidence import slow_json
from calaudit.evidence.numbers import FLOAT_SUSPECT
from calaudit.evidence.parser_words import not_json
from calaudit.evidence.slow_json import MAX_DEPTH
from calaudit.model import Json

VALUES_MAX = 4 << 20
"""Values that one document may hold: an empty list takes three bytes, and thirty times as much once it is parsed."""

_WRITTEN_MAX = 1 << 18
"""Bytes of a text whose values are written again: indentation may blow them up some hundred times."""

_INDENT = 2
_DEEP = b"\n" + b" " * (_INDENT * MAX_DEPTH)
"""What is in an indented text that nests about as deep as allowed: a line feed inside a string is escaped."""

_SPELLED_QUOTE = rb"\u0022"

_BEFORE_NUMBER = b"[,: \t\r\n-"
_SHAPE = bytes.maketrans(b"123456789" + _BEFORE_NUMBER, b"0" * 9 + b"," * len(_BEFORE_NUMBER))
_LONG_INTEGER = b"," + b"0" * 19
"""What every integer of :data:`FLOAT_SUSPECT` or more looks like in an array or object, in the alphabet of shapes."""


def parse_json(data: bytes, *, foreign: bool = False) -> Json:
    """The value of a JSON document.

    In a ``foreign`` document, which nobody here can correct, an integer beyond 64 bits is allowed and comes out as a
    double: half of all tokenizer configs say ``model_max_length: 1000000000000000019884624838656``.

    Raises:
        Malformed: the bytes are not one strict document, with the place of the first fault where it is known.
    """
    if len(data) > VALUES_MAX and sum(map(data.count, (b",", b"[", b"{"))) > VALUES_MAX:
        raise Malformed(f"The document holds more than {VALUES_MAX} values; split it.")
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Malformed(not_json(data, error.msg, error.pos), line=error.lineno, column=error.colno) from error
    if not is_sound(data, value):
        slow_json.check(data, value, foreign=foreign)
    return value


def is_sound(data: bytes, value: Json) -> bool:
    """Whether a value that orjson read from these bytes surely lost nothing. False means: look closer."""
    if type(value) is dict or type(value) is list:
        return all_sound(data, [value])
    return type(value) is not float or -FLOAT_SUSPECT < value < FLOAT_SUSPECT


def all_sound(data: bytes, values: list[Any]) -> bool:
    """Whether objects and arrays that orjson read from the lines of ``data`` surely lost nothing.

    Each lost key makes the sum of strings smaller and nothing makes it larger, so what holds of the sum holds of each.
    """
    if len(data) <= _WRITTEN_MAX and _SPELLED_QUOTE not in data and _LONG_INTEGER not in data.translate(_SHAPE):
        try:
            text = orjson.dumps(values, option=orjson.OPT_INDENT_2)
        except orjson.JSONEncodeError:  # deeper than orjson writes, which is deeper than is allowed
            return False
        if _DEEP not in text:
            return data.count(b'"') == text.count(b'"')
    return quotes(data) == 2 * _strings(values)


def quotes(data: bytes) -> int:
    """How many quotes delimit strings in valid JSON."""
    if b"\\" not in data:
        return data.count(b'"')
    # Pairs first: what is left of a run of backslashes is then exactly the one that escapes the next character.
    if b"\\\\" in data:
        data = data.replace(b"\\\\", b"")
    return data.count(b'"') - data.count(b'\\"')


def _strings(level: list[Any]) -> int:
    """How many keys and string values objects and arrays have together, level after level: so without recursion.

    -1 if they are too deep or hold a double that may be a big integer.
    """
    count = 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if type(item) is dict:
                count += len(item)
                members: Any = item.values()
            elif _is_numeric(item):
                continue
            else:
                members = item
            for member in members:
                kind = type(member)
                if kind is str:
                    count += 1
                elif kind is dict or kind is list:
                    below.append(member)
                elif kind is float and not -FLOAT_SUSPECT < member < FLOAT_SUSPECT:
                    return -1
        if not below:
            return count
        level = below
    return -1


def _is_numeric(items: list[Any]) -> bool:
    """Whether a list holds only numbers that need no closer look: tokens and logits are most of what is read."""
    kinds = set(map(type, items))
    if kinds == _INTEGERS:
        return True
    return kinds <= _NUMBERS and bool(items) and min(items) > -FLOAT_SUSPECT and max(items) < FLOAT_SUSPECT


_INTEGERS = {int}
_NUMBERS = {int, float}
