"""The one strict CSV parser: RFC 4180 with a header, UTF-8, every row as long as the header.

Lines may end with LF or CRLF; a lone carriage return, NUL, blank lines, an empty or repeated column name and text after
a closing quote are refused. Values stay strings.
"""

import csv
import io

from calaudit.errors import Malformed
from calaudit.evidence.faults import FAULTS_KEPT, MALFORMED, Fault, malformed
from calaudit.evidence.nouns import Record
from calaudit.evidence.numbers import shorten
from calaudit.evidence.utf8 import check_utf8

LINES_LIMIT = 500_000
"""Lines that a CSV file may have: a row in memory takes a hundred times what it takes in the file."""


def parse_csv(data: bytes) -> tuple[tuple[Record, ...], list[Fault]]:
    """The rows of a CSV file as objects of strings, and everything that is wrong with it."""
    try:
        check_utf8(data)
        _check_bytes(data)
        return _rows(data.decode())
    except Malformed as error:
        return (), [malformed(error)]


def _check_bytes(data: bytes) -> None:
    for byte, name in ((b"\0", "NUL"), (b"\r", "carriage return without line feed")):
        place = data.replace(b"\r\n", b"\n\n").find(byte) if byte in data else -1
        if place >= 0:
            line = data.count(b"\n", 0, place) + 1
            raise Malformed(f"A {name} stands in the file; remove it.", line=line)


def _rows(text: str) -> tuple[tuple[Record, ...], list[Fault]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Record] = []
    faults: list[Fault] = []
    try:
        header = next(reader, None)
        _check_header(header)
        assert header is not None  # noqa: S101 - checked above
        while True:
            line = reader.line_num + 1
            row = next(reader, None)
            if row is None or len(faults) >= FAULTS_KEPT:
                return tuple(rows), faults
            if line > LINES_LIMIT:
                raise Malformed(f"The file has more than {LINES_LIMIT} lines; split it.", line=line)
            if len(row) != len(header):
                text = f"The row has {len(row)} field(s), the header {len(header)}; quote commas, fill empty fields."
                faults.append(Fault(MALFORMED, text, line=line))
            else:
                rows.append(Record(line, dict(zip(header, row, strict=True))))
    except csv.Error as error:
        raise Malformed(f"Not CSV: {error}.", line=reader.line_num) from error


def _check_header(header: list[str] | None) -> None:
    if not header:
        raise Malformed("The header is missing; the first line names the columns.", line=1)
    seen: set[str] = set()
    for name in header:
        if not name.strip():
            raise Malformed("A column has no name; name it.", line=1)
        if name in seen:
            raise Malformed(f"The column {shorten(name)!r} is given twice; rename one.", line=1)
        seen.add(name)
