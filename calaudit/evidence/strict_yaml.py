"""The one strict YAML parser: libyaml's events and our own constructor of JSON data.

YAML 1.2 core scalars: ``no`` and ``yes``, dates and ``1:30`` are strings; ``0x1F`` and ``0o17`` are integers. Refused
is what two readers understand differently, or what is not JSON data: anchors, aliases, tags, directives, merge keys,
several documents, keys given twice or that are not strings, ``012`` (eight or ten?), ``.inf`` and ``.nan``, integers
beyond 64 bits, the line breaks of YAML 1.1 only (U+0085, U+2028, U+2029), a byte order mark, nesting deeper than
:data:`MAX_DEPTH`.
"""

import re
from typing import Any, NoReturn

from yaml import MarkedYAMLError, YAMLError
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from calaudit.errors import Malformed
from calaudit.evidence.numbers import integer, real, shorten
from calaudit.evidence.utf8 import check_utf8
from calaudit.model import Json

MAX_DEPTH = 64
"""How deep mappings and sequences may nest."""

_NO_KEY: Any = object()
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERIC_START = frozenset("0123456789+-.")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)").fullmatch
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+").fullmatch
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?").fullmatch
_HEX = re.compile(r"0x[0-9a-fA-F]+").fullmatch
_OCTAL = re.compile(r"0o[0-7]+").fullmatch
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)").fullmatch
_OLD_BREAKS = re.compile(rb"\xc2\x85|\xe2\x80[\xa8\xa9]").search


def parse_yaml(data: bytes) -> Json:
    """The value of a YAML document.

    Raises:
        Malformed: the bytes are not one strict document, with the line and column of the first fault.
    """
    check_utf8(data)
    if found := _OLD_BREAKS(data):
        line = data.count(b"\n", 0, found.start()) + 1
        raise Malformed("A line break of YAML 1.1 only (U+0085, U+2028 or U+2029); write it as an escape.", line=line)
    try:
        return _construct(CParser(data))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        raise Malformed(
            f"Not YAML: {error.problem or error.context or 'syntax error'}.",
            line=None if mark is None else mark.line + 1,
            column=None if mark is None else mark.column + 1,
        ) from error
    except ReaderError as error:
        raise Malformed(f"Not YAML: {error.reason} (character U+{_code(error.character):04X}).") from error
    except YAMLError as error:
        raise Malformed(f"Not YAML: {error}.") from error


def _construct(parser: Any) -> Json:  # noqa: C901, PLR0912 - one loop over events: calls would double its time
    get_event = parser.get_event
    stack: list[tuple[Any, bool, Any]] = []
    root: Any = _NO_KEY
    current: Any = None
    in_mapping = False
    key: Any = _NO_KEY
    while True:
        event = get_event()
        kind = type(event)
        if kind is ScalarEvent:
            value: Any = event.value
            if event.anchor is not None or event.tag is not None:
                _refuse_node(event)
            if event.implicit[0] and (value[:1] in _NUMERIC_START or value in _WORDS or value == "<<"):
                value = _resolve(event, is_key=in_mapping and key is _NO_KEY)
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            current, in_mapping, key = stack.pop()
            continue
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if event.anchor is not None or event.tag is not None:
                _refuse_node(event)
            if len(stack) >= MAX_DEPTH:
                _refuse(event, f"Nesting is deeper than {MAX_DEPTH} levels; flatten the document.")
            value = {} if kind is MappingStartEvent else []
        elif kind is StreamEndEvent:
            break
        else:
            _check_other(event, started=root is not _NO_KEY)
            continue
        if current is None:
            root = value
        elif not in_mapping:
            current.append(value)
        elif key is _NO_KEY:
            if type(value) is not str:
                _refuse(event, "A key is not a string; put it in quotes, and mappings and sequences into values.")
            if value in current:
                _refuse(event, f"The key {shorten(value)!r} is given twice; keep one.")
            key = value
            continue
        else:
            current[key] = value
            key = _NO_KEY
        if kind is not ScalarEvent:
            stack.append((current, in_mapping, key))
            current, in_mapping, key = value, kind is MappingStartEvent, _NO_KEY
    if root is _NO_KEY:
        raise Malformed("The document is empty; expected a value.", line=1)
    result: Json = root
    return result


def _resolve(event: ScalarEvent, *, is_key: bool) -> Json:
    """The value of a plain scalar that may be more than a string."""
    text: str = event.value
    if text in _WORDS:
        return _WORDS[text]
    try:
        if _INT(text):
            return integer(text)
        if _HEX(text):
            return integer(text[2:], 16)
        if _OCTAL(text):
            return integer(text[2:], 8)
        if _LEADING_ZERO(text):
            _refuse(
                event, f"{shorten(text)} has a leading zero: YAML 1.1 reads it as octal, YAML 1.2 does not; quote it."
            )
        if _FLOAT(text):
            return real(text)
    except Malformed as error:
        _refuse(event, error.message)
    if _NOT_FINITE(text):
        _refuse(event, f"{text} is not a finite number; write a number, null or a quoted string.")
    if is_key and text == "<<":
        _refuse(event, "Merge keys are not allowed; write the members out.")
    return text


def _check_other(event: Event, *, started: bool) -> None:
    if isinstance(event, AliasEvent):
        _refuse(event, "Aliases are not allowed; write the value out.")
    if isinstance(event, DocumentStartEvent):
        if started:
            _refuse(event, "A second document begins; keep one document in a file.")
        if event.version or event.tags:
            _refuse(event, "Directives (%YAML, %TAG) are not allowed; remove them.")


def _refuse_node(event: Any) -> NoReturn:
    if event.anchor is not None:
        _refuse(event, f"Anchors (&{shorten(event.anchor)}) are not allowed; write the value out where it is used.")
    _refuse(event, f"Tags ({shorten(event.tag)}) are not allowed; write plain data.")


def _refuse(event: Event, message: str) -> NoReturn:
    mark = event.start_mark
    assert mark is not None  # noqa: S101 - libyaml marks every event
    raise Malformed(message, line=mark.line + 1, column=mark.column + 1)


def _code(character: object) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")
