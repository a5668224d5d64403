"""CSV, checksum lists and text."""

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.evidence.checksums import parse_checksums
from calaudit.evidence.faults import FAULTS_KEPT, FAULTS_LIMIT
from calaudit.evidence.lines import Lines
from calaudit.evidence.nouns import Block, Checksum, Record
from calaudit.evidence.strict_csv import parse_csv
from calaudit.evidence.text import TextScan, check_text

SHA = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (f"{SHA}  a/b.txt", "a/b.txt"),
        (f"{SHA} *a", "a"),
        (f"{SHA}   a b ", " a b "),
        (f"{SHA}  e\u0301", "é"),
        (f"{SHA}  a\\b", "a\\b"),
        (f"{SHA}  ..a", "..a"),
    ],
)
def test_checksum_lines(line, path):
    assert parse_checksums(line.encode()) == ((Checksum(1, SHA, path),), [])
    assert parse_checksums(line.encode() + b"\n") == ((Checksum(1, SHA, path),), [])


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (f"{SHA}  /etc/passwd", "path-escape"),
        (f"{SHA}  ../a", "path-escape"),
        (f"{SHA}  a/../b", "path-escape"),
        (f"{SHA}  a/..", "path-escape"),
        (f"{SHA}  ..", "path-escape"),
        (f"{SHA}  //a", "path-escape"),
        (f"{SHA}  ./a", "document-malformed"),
        (f"{SHA}  a//b", "document-malformed"),
        (f"{SHA}  a/", "document-malformed"),
        (f"{SHA}  a/./b", "document-malformed"),
        (f"{SHA}  .", "document-malformed"),
        (f"{SHA.upper()}  a", "document-malformed"),
        (f"{SHA[1:]}  a", "document-malformed"),
        (f"{SHA}0  a", "document-malformed"),
        (f"{SHA} a", "document-malformed"),
        (f"{SHA}\ta", "document-malformed"),
        (f"\\{SHA}  a\\nb", "document-malformed"),
        (f"SHA256 (a) = {SHA}", "document-malformed"),
        ("# comment", "document-malformed"),
        ("", "document-malformed"),
        (f"{SHA}  a\r", "document-malformed"),
        (f"{SHA}  a\0b", "document-malformed"),
        (f"{SHA}  ", "document-malformed"),
        (f"{SHA}", "document-malformed"),
        ("\ufeff" + f"{SHA}  a", "document-malformed"),
    ],
)
def test_checksum_lines_that_are_refused(line, rule):
    found, faults = parse_checksums(f"{line}\n{SHA}  good\n".encode())
    assert faults[0].rule == rule
    assert faults[0].line == 1
    assert all(c.path == "good" for c in found)


def test_a_path_may_be_listed_once_in_any_spelling():
    nfd = unicodedata.normalize("NFD", "é")
    _, faults = parse_checksums(f"{SHA}  é\n{'0' * 64}  {nfd}\n".encode())
    assert [(f.rule, f.line) for f in faults] == [("document-malformed", 2)]


def test_a_checksum_list_that_is_not_utf8_has_no_lines():
    assert parse_checksums(SHA.encode() + b"  \xff\n")[0] == ()


PATHS = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=4), min_size=1, max_size=3
).map("/".join)


@given(st.dictionaries(PATHS, st.from_regex("[0-9a-f]{64}", fullmatch=True), max_size=5))
def test_checksum_lists_round_trip_or_are_refused(entries):
    data = "".join(f"{sha}  {path}\n" for path, sha in entries.items()).encode()
    found, faults = parse_checksums(data)
    plain = {unicodedata.normalize("NFC", p) for p in entries if not {"", ".", ".."} & set(p.split("/"))}
    assert {c.path for c in found} == plain
    assert len(found) + len(faults) == len(entries)
    assert all(c.path.split("/").count("..") == 0 and not c.path.startswith("/") for c in found)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_rows(end):
    rows, faults = parse_csv(end.join(["a,b", '1,"x,""y"" \n z"', ",", "é,3"]).encode())
    assert not faults
    assert rows == (
        Record(2, {"a": "1", "b": 'x,"y" \n z'}),
        Record(4, {"a": "", "b": ""}),
        Record(5, {"a": "é", "b": "3"}),
    )


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", 1),
        (b"\n", 1),
        (b"a,a\n", 1),
        (b"a,\n", 1),
        (b"a, \n1,2\n", 1),
        (b"a,b\n1\n", 2),
        (b"a,b\n1,2,3\n", 2),
        (b"a,b\n1,2\n\n3,4\n", 3),
        (b'a,b\n"1"x,2\n', 2),
        (b'a,b\n"1,2\n', 2),
        (b"a,b\n1,\0\n", 2),
        (b"a,b\n1,2\r3,4\n", 2),
        (b"\xef\xbb\xbfa,b\n", 1),
        (b"a,b\n\xff,1\n", 2),
        (b"a\n" + b"x" * 200_000, 2),
    ],
)
def test_csv_that_is_refused(data, line):
    _, faults = parse_csv(data)
    assert [(f.rule, f.line) for f in faults] == [("document-malformed", line)]


CELLS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), max_size=5)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=5))
def test_csv_round_trip(rows):
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([["a", "b"], *rows])
    found, faults = parse_csv(out.getvalue().encode())
    assert not faults
    assert [list(r.value.values()) for r in found] == rows


@given(st.binary(max_size=60) | st.text('a,"\r\n\0', max_size=20).map(str.encode))
def test_any_bytes_as_csv_give_rows_or_faults(data):
    rows, faults = parse_csv(data)
    assert rows or faults or data.count(b"\n") <= 1 or data.strip()


@pytest.mark.parametrize(
    "text", ["", "a\tb\n", "é ü 漢\n", "a\r\nb\r\n", "no end", "\u200e marks are fine", "\ufeff"[:0] + "x"]
)
def test_text_that_shows_what_it_says(text):
    assert check_text(text.encode()) == []


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a\n\x1b[31m", 2),
        (b"\x00", 1),
        (b"a\rb", 1),
        (b"a\n\nb\r", 3),
        (b"\x7f", 1),
        ("\u009b".encode(), 1),
        ("a\n\u202e".encode(), 2),
        ("\u2066".encode(), 1),
        (b"\x0c", 1),
    ],
)
def test_text_that_steers(data, line):
    assert [(f.rule, f.line, f.harmless) for f in check_text(data)] == [("control-character", line, True)]


@pytest.mark.parametrize(
    ("data", "line"), [(b"\xef\xbb\xbfa", 1), (b"a\n\xff", 2), (b"\xc3", 1), (b"\n\xed\xa0\x80", 2)]
)
def test_text_that_is_not_utf8(data, line):
    assert [(f.rule, f.line, f.harmless) for f in check_text(data)] == [("document-malformed", line, False)]


@pytest.mark.parametrize("parse", [parse_csv, parse_checksums], ids=["csv", "checksums"])
def test_a_parser_stops_looking_where_everything_is_wrong(parse):
    assert len(parse(b"a,b\n" + b"x\n" * 100_000)[1]) == FAULTS_KEPT


def test_a_csv_file_may_be_too_long(monkeypatch):
    monkeypatch.setattr("calaudit.evidence.strict_csv.LINES_LIMIT", 3)
    assert [(f.rule, f.line) for f in parse_csv(b"a\n1\n2\n3\n")[1]] == [("document-malformed", 4)]


def test_many_faults_are_counted():
    faults = check_text(b"\x1b\n" * (FAULTS_LIMIT + 50))
    assert len(faults) == FAULTS_LIMIT + 1
    assert "50 more" in faults[-1].message


LINES = st.lists(st.text("aé\u202e\x1b\r", max_size=4), max_size=6).map(lambda ls: "\n".join(ls).encode())


@given(LINES | st.binary(max_size=20), st.lists(st.integers(1, 7), min_size=1, max_size=30))
def test_a_long_text_is_judged_as_a_short_one(data, cuts):
    scan = TextScan()
    rest = data
    for cut in cuts:
        scan.feed(rest[:cut])
        rest = rest[cut:]
    scan.feed(rest)
    whole, parts = check_text(data), scan.finish()
    assert bool(whole) == bool(parts)
    if all(f.rule == "control-character" for f in whole):
        assert parts == whole


@given(st.binary(max_size=60).map(lambda b: b.replace(b"x", b"\n")), st.lists(st.integers(0, 9), max_size=12))
def test_blocks_are_whole_lines(data, cuts):
    lines = Lines()
    blocks = []
    rest = data
    for cut in cuts:
        blocks.append(lines.feed(rest[:cut]))
        rest = rest[cut:]
    blocks += [lines.feed(rest), lines.finish()]
    found = [b for b in blocks if b is not None]
    assert b"".join(b.data for b in found) == data
    assert all(b.data.endswith(b"\n") for b in found[:-1])
    at = 1
    for block in found:
        assert block == Block(at, block.data)
        at += block.data.count(b"\n")


def test_a_line_that_is_too_long_is_cut_and_refused(monkeypatch):
    monkeypatch.setattr("calaudit.evidence.lines.LINE_LIMIT", 10)
    scan = TextScan()
    for part in (b"short\n", b"12345", b"678901234", b"\nshort\n"):
        scan.feed(part)
    assert [(f.rule, f.line) for f in scan.finish()] == [("document-malformed", 2)]
