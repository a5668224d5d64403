import json
import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.errors import Malformed
from calaudit.evidence import slow_json, strict_json
from calaudit.evidence.numbers import integer
from calaudit.evidence.strict_json import all_sound, is_sound, parse_json

DEEP = 100_000

REFUSED = {
    "nothing": b"",
    "blank": b" \n",
    "NaN": b'{"a": NaN}',
    "Infinity": b"[Infinity]",
    "-Infinity": b"-Infinity",
    "overflow": b'{"a": 1e999}',
    "2^64": b"18446744073709551616",
    "-2^63-1": b"[-9223372036854775809]",
    "2^64 in a record": b'{"a": {"b": [1, 18446744073709551617]}}',
    "5000 digits": b"[" + b"7" * 5000 + b"]",
    "5000 digits after zeros": b"[1" + b"0" * 5000 + b"]",
    "BOM": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "invalid UTF-8": b'["\xff"]',
    "a surrogate as UTF-8": b'["\xed\xa0\x80"]',
    "lone high surrogate": rb'["\ud800"]',
    "lone low surrogate": rb'["\udc00x"]',
    "twice": b'{"a": 1, "a": 2}',
    "twice, escaped": rb'{"a": 1, "\u0061": 2}',
    "twice, an escaped quote": rb'{"a\"": 1, "a\u0022": 2}',
    "twice, made up for by spelled quotes": rb'{"a": 1, "a": 2, "b": "\u0022\u0022"}',
    "twice, deep": b'[[{"x": {"k": "v", "k": "v"}}]]',
    "twice, the same value": b'{"gate": "FAIL", "gate": "PASS"}',
    "trailing": b"{} {}",
    "trailing NUL": b"{}\0",
    "raw NUL": b'["\0"]',
    "raw newline": b'["\n"]',
    "comma": b"[1,]",
    "leading zero": b"[012]",
    "comment": b"[1] // x",
    "single quotes": b"{'a': 1}",
    "65 levels": b"[" * 65 + b"]" * 65,
    "65 levels of objects": b'{"a":' * 65 + b"1" + b"}" * 65,
    "very deep": b"[" * DEEP,
    "very deep and closed": b"[" * DEEP + b"]" * DEEP,
    "very deep objects": b'{"a":' * DEEP,
}
ALLOWED = {
    "2^64-1": b"[18446744073709551615, -9223372036854775808]",
    "64 levels": b"[" * 64 + b"]" * 64,
    "big doubles": b"[1e300, -1e19, 18446744073709551616.0]",
    "underflow": b"[1e-999]",
    "escapes": rb'{"\\": "\"", "\\\"": "\\\\", "\u0022": "\/\b"}',
    "a key of backslashes": rb'{"\\\\\\": {"\\": ["\\\""]}}',
    "pair": rb'["\ud83d\ude00"]',
    "NUL as an escape": rb'["\u0000"]',
    "scalars": b'"x"',
    "white space": b" \t\r\n[ ] \n",
    "like a duplicate": b'[{"a": 1}, {"a": 2}, "\\"a\\": 1"]',
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_refused(data):
    with pytest.raises(Malformed):
        parse_json(data)


@pytest.mark.parametrize("data", ALLOWED.values(), ids=ALLOWED)
def test_allowed_as_the_standard_library_reads_it(data):
    assert parse_json(data) == json.loads(data)


@pytest.mark.parametrize("limit", [slow_json.SCAN_LIMIT, 0], ids=["scanned", "too long to scan"])
@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_refused_whatever_the_length(data, limit, monkeypatch):
    monkeypatch.setattr(slow_json, "SCAN_LIMIT", limit)
    with pytest.raises(Malformed):
        parse_json(data)


@pytest.mark.parametrize("data", ALLOWED.values(), ids=ALLOWED)
def test_allowed_whatever_the_length(data, monkeypatch):
    monkeypatch.setattr(slow_json, "SCAN_LIMIT", 0)
    assert parse_json(data) == json.loads(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": NaN}', "NaN is no number of JSON"),
        (b'{"a": -Infinity}', "-Infinity is no number of JSON"),
        (b'{"a": tru}', "found 'tru'."),
        (b"[1,]", "found ','."),
        (b'["\x01"]', "found '\\x01'."),
        (b'{"a": ', "unexpected end of data."),
    ],
)
def test_what_was_met_is_named(data, said):
    with pytest.raises(Malformed) as refused:
        parse_json(data)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("data", "line", "column", "pointer"),
    [
        (b'{\n "a": 1,\n "b": {"c": 1, "c": 2}}', 3, 16, "/b/c"),
        (b'{"x/y": [1, {"~": [18446744073709551616]}]}', 1, 20, "/x~1y/1/~0/0"),
        (b"[1,\n" + b"[" * 64 + b"]" * 65, 2, 64, "/1" + "/0" * 63),
        (b'[1,\n  "\\q"]', 2, 4, None),
    ],
)
def test_the_place_of_a_fault(data, line, column, pointer):
    with pytest.raises(Malformed) as caught:
        parse_json(data)
    assert (caught.value.line, caught.value.column, caught.value.pointer) == (line, column, pointer)


def test_places_of_values():
    text = '{"a": [1, {"b": "x"}],\n "c": {}, "d":\n null}'
    assert [(p.pointer, slow_json.line_at(text, p.offset)) for p in slow_json.scan(text)] == [
        ("", 1),
        ("/a", 1),
        ("/a/0", 1),
        ("/a/1", 1),
        ("/a/1/b", 1),
        ("/c", 2),
        ("/d", 2),
    ]


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=5) | st.text(
    st.sampled_from('"\\/u0061a:{},['), max_size=6
)
INTEGERS = st.integers(min_value=-(2**63), max_value=2**64 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXT,
    lambda v: st.lists(v, max_size=4) | st.dictionaries(TEXT, v, max_size=4),
    max_leaves=20,
)


def holds_suspect(value) -> bool:
    if isinstance(value, dict | list):
        return any(map(holds_suspect, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and abs(value) >= 2**63


@given(VALUES, st.booleans(), st.sampled_from([None, 0, 3]))
def test_agrees_with_the_standard_library(value, ascii_only, indent):
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    found = parse_json(data)
    assert found == value
    assert repr(found) == repr(json.loads(data))
    assert is_sound(data, found) or holds_suspect(found)


def unique(pairs):
    if len({k for k, _ in pairs}) != len(pairs):
        raise ValueError
    return dict(pairs)


PAIRS = st.recursive(
    TEXT | st.integers(0, 9),
    lambda v: st.lists(v, max_size=3) | st.lists(st.tuples(TEXT | st.sampled_from("ab"), v), max_size=4).map(tuple),
    max_leaves=15,
)


def is_strict(line) -> bool:
    try:
        value = json.loads(line, object_pairs_hook=unique, parse_int=integer)
    except (ValueError, Malformed):
        return False
    return depth(value) <= 64


def depth(value) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


class Literal(str):
    """A number, spelled as it stands."""

    __slots__ = ()


ESCAPE = st.sampled_from([True, False, None])


def spell(value, escape) -> str:
    """JSON text of a value in which a tuple of pairs is an object, with keys as they come.

    ``escape`` spells every character by its number; None only quotes.
    """
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{spell(k, escape)}: {spell(v, escape)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(spell(v, escape) for v in value) + "]"
    if isinstance(value, str) and escape:
        return '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in value) + '"'
    if isinstance(value, str) and escape is None:
        return '"' + "".join(r"\u0022" if c == '"' else json.dumps(c)[1:-1] for c in value) + '"'
    return json.dumps(value, ensure_ascii=False)


@given(PAIRS, ESCAPE)
def test_the_guard_sees_exactly_the_duplicates(value, escape):
    text = spell(value, escape)
    try:
        expected = json.loads(text, object_pairs_hook=unique)
    except ValueError:
        with pytest.raises(Malformed, match="given twice"):
            parse_json(text.encode())
    else:
        assert parse_json(text.encode()) == expected
        assert is_sound(text.encode(), expected)


LONG_NUMBERS = st.from_regex(r"-?[1-9][0-9]{16,21}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True).map(Literal)
TEXTS = st.builds(
    lambda value, escape, around, depth: around.join(["[" * depth + spell(value, escape) + "]" * depth] * 2),
    st.lists(PAIRS | LONG_NUMBERS | st.integers(0, 9), max_size=4),
    ESCAPE,
    st.just("\n"),
    st.sampled_from([0, 1, 60, 61, 62, 63, 64, 65, 250, 260]),
)


@given(TEXTS)
def test_the_written_text_and_a_walk_of_the_values_clear_only_what_is_sound(text):
    lines = text.encode().split(b"\n")
    values = list(map(orjson.loads, lines))
    quick = all_sound(text.encode(), values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json, "_WRITTEN_MAX", 0)
        walked = all_sound(text.encode(), values)
    assert walked <= quick  # a walk is wary of large doubles, however they are spelled
    assert quick <= all(map(is_strict, lines))


@pytest.mark.parametrize("data", [*REFUSED.values(), *ALLOWED.values()], ids=[*REFUSED, *ALLOWED])
def test_a_walk_of_the_values_decides_as_the_written_text(data, monkeypatch):
    monkeypatch.setattr(strict_json, "_WRITTEN_MAX", 0)
    if data in REFUSED.values():
        with pytest.raises(Malformed):
            parse_json(data)
    else:
        assert parse_json(data) == json.loads(data)


@given(st.binary(max_size=30) | st.text('[]{}",:0123456789.eE+-\\untrfalsN ', max_size=20).map(str.encode))
def test_accepts_nothing_that_the_standard_library_refuses(data):
    try:
        value = parse_json(data)
    except Malformed:
        return
    assert repr(json.loads(data)) == repr(value)


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_numbers(text):
    expected = json.loads(text)
    fits = not (isinstance(expected, int) and not -(2**63) <= expected < 2**64) and math.isfinite(expected)
    if fits:
        assert parse_json(b"[" + text.encode() + b"]") == [expected]
    else:
        with pytest.raises(Malformed):
            parse_json(b"[" + text.encode() + b"]")
