import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from calaudit.errors import Malformed
from calaudit.evidence.strict_yaml import parse_yaml

BOMB = "a: &a [x, x]\n" + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True))
REFUSED = {
    "nothing": b"",
    "only a comment": b"# nothing\n",
    "anchor": b"a: &x 1",
    "anchor of a mapping": b"a: &x {b: 1}",
    "alias": b"a: *x",
    "nine levels of aliases": BOMB.encode(),
    "tag": b"a: !!int 1",
    "own tag": b"a: !secret x",
    "non-specific tag": b"a: ! x",
    "python": b"!!python/object/apply:os.system [id]",
    "merge": b"a: {<<: {b: 1}}",
    "twice": b"a: 1\nb: 2\na: 3",
    "twice in flow": b"{a: 1, 'a': 2}",
    "twice, escaped": b'a: 1\n"\\x61": 2',
    "twice, a number and a string": b"\"1\": 1\n'1': 2",
    "number as key": b"1: a",
    "truth as key": b"true: a",
    "null as key": b"~: a",
    "nothing as key": b": a",
    "sequence as key": b"? [a]\n: b",
    "mapping as key": b"? {a: 1}\n: b",
    "two documents": b"a: 1\n---\nb: 2",
    "two scalars": b"--- 1\n--- 2",
    "%YAML": b"%YAML 1.1\n---\na: 1",
    "%TAG": b"%TAG ! tag:x,2020:\n---\na: 1",
    "%OTHER": b"%OTHER x\n---\na: 1",
    ".inf": b"a: .inf",
    "-.INF": b"a: -.INF",
    ".nan": b"a: .nan",
    "overflow": b"a: 1e999",
    "2^64": b"a: 18446744073709551616",
    "-2^63-1": b"a: -9223372036854775809",
    "hex beyond 64 bits": b"a: 0x10000000000000000",
    "5000 digits": b"a: " + b"7" * 5000,
    "5000 hex digits": b"a: 0x" + b"f" * 5000,
    "leading zero": b"a: 012",
    "negative leading zero": b"a: -012",
    "leading zero, not octal": b"a: 089",
    "BOM": b"\xef\xbb\xbfa: 1",
    "UTF-16": "a: 1".encode("utf-16"),
    "invalid UTF-8": b"a: \xff",
    "NUL": b"a: x\0",
    "ESC": b"a: x\x1b[0m",
    "C1": "a: x\x9b".encode(),
    "NEL": "a: 1 # x\u0085b: 2".encode(),
    "LS": "a: 1 # x\u2028b: 2".encode(),
    "PS": "a: 'x\u2029'".encode(),
    "tab": b"a:\n\tb: 1",
    "unclosed": b"{a: [1",
    "lone surrogate": b'"\\ud800"',
    "65 levels": b"[" * 65 + b"]" * 65,
    "65 levels of blocks": b"".join(b" " * n + b"a:\n" for n in range(65)) + b" " * 65 + b"x",
    "very deep": b"[" * 100_000,
    "very deep mappings": b"{a: " * 100_000,
    "very deep blocks": b"- " * 100_000,
    "very deep keys": b"? " * 100_000,
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_refused(data):
    with pytest.raises(Malformed):
        parse_yaml(data)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("null", None),
        ("~", None),
        ("", None),
        ("NULL", None),
        ("nUll", "nUll"),
        ("true", True),
        ("TRUE", True),
        ("False", False),
        ("tRue", "tRue"),
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x1F", "-0x1F"),
        ("0b1", "0b1"),
        ("0o8", "0o8"),
        ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5e3", -500.0),
        ("1e3", 1000.0),
        ("1e", "1e"),
        (".", "."),
        ("-", None),
        ("00.5", 0.5),
        ("'012'", "012"),
        ('"1"', "1"),
        ("'null'", "null"),
        ("=", "="),
        ("'<<'", "<<"),
        ("1 2", "1 2"),
        ("\u0661", "\u0661"),
        ("0x", "0x"),
        ("+", "+"),
        ("1.2.3", "1.2.3"),
        (".infx", ".infx"),
    ],
)
def test_scalars_are_yaml_1_2(text, value):
    if text == "-":
        assert parse_yaml(b"a:\n  -\n") == {"a": [None]}
        return
    found = parse_yaml(f"a: {text}\n".encode())
    assert found == {"a": value}
    assert type(found["a"]) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("---", None),
        ("--- x\n...\n", "x"),
        ("- a\n- b: [c, {d: e}]\n", ["a", {"b": ["c", {"d": "e"}]}]),
        ("'<<': 1", {"<<": 1}),
        ("'true': 1", {"true": 1}),
        ("? a\n: b", {"a": "b"}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("[]", []),
        ("{}", {}),
    ],
)
def test_documents(text, value):
    assert parse_yaml(text.encode()) == value


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"a: 1\nb:\n  c: 1\n  c: 2", 4, 3),
        (b"a: 1\nb: 012", 2, 4),
        (b"a: [1,\n *x]", 2, 2),
        (b"a: 1\nb: \xff", 2, 4),
        (b"a: 1\n b: 2", 2, 3),
    ],
)
def test_the_place_of_a_fault(data, line, column):
    with pytest.raises(Malformed) as caught:
        parse_yaml(data)
    assert (caught.value.line, caught.value.column) == (line, column)


TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"), max_size=6
)
TEXT = TEXT.filter(lambda s: all(ord(c) & 0xFFFE != 0xFFFE for c in s))
PLAIN = TEXT | st.sampled_from(
    ["no", "1:30", "012", "0x1F", "~", "", "<<", "1e3", "2024-01-01", "true", "*a", "&a", "!x", "- x", "#"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | PLAIN,
    lambda v: st.lists(v, max_size=4) | st.dictionaries(PLAIN, v, max_size=4),
    max_leaves=15,
)


@given(VALUES)
def test_reads_what_a_yaml_writer_wrote(value):
    class Writer(yaml.SafeDumper):
        def ignore_aliases(self, _):
            return True

    def string(dumper, text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')

    Writer.add_representer(str, string)
    data = yaml.dump(value, Dumper=Writer, allow_unicode=True, width=10**6, sort_keys=False).encode()
    found = parse_yaml(data)
    assert found == value
    assert repr(found) == repr(value)


@given(VALUES.filter(lambda v: isinstance(v, dict | list)))
def test_reads_json_of_the_basic_plane(value):
    assert parse_yaml(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.text("ab:-?#&*!|>'\"%@`{}[], \n012.e~", max_size=25))
def test_agrees_with_pyyaml_on_structure(text):
    try:
        value = parse_yaml(text.encode())
    except Malformed:
        return
    assert shape(value) == shape(yaml.load(text, Loader=yaml.CBaseLoader))  # noqa: S506 - strings only


def shape(value):
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    return [shape(v) for v in value] if isinstance(value, list) else "scalar"


@given(st.binary(max_size=40))
def test_any_bytes_give_a_value_or_a_refusal(data):
    with contextlib.suppress(Malformed):
        parse_yaml(data)
