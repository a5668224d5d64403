"""Checksum lists as ``sha256sum`` writes them: 64 lower-case digits, a space, a space or ``*``, a path.

Refused are the escaped form (a leading backslash: no name in a port needs it), the BSD form, comments, blank lines, a
carriage return, a path in another than its plain form (``./a``, ``a//b``, ``a/``) and a path given twice.
"""

import re
import unicodedata
from collections.abc import Iterator

from calaudit.errors import Malformed
from calaudit.evidence.faults import ESCAPE, FAULTS_KEPT, MALFORMED, Fault, malformed
from calaudit.evidence.nouns import Checksum
from calaudit.evidence.numbers import shorten
from calaudit.evidence.utf8 import check_utf8

_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)").fullmatch


def parse_checksums(data: bytes) -> tuple[tuple[Checksum, ...], list[Fault]]:
    """The lines of a checksum list, and everything that is wrong with it."""
    try:
        check_utf8(data)
    except Malformed as error:
        return (), [malformed(error)]
    found: list[Checksum] = []
    faults: list[Fault] = []
    seen: dict[str, int] = {}
    for number, line in _numbered(data.decode()):
        if len(faults) >= FAULTS_KEPT:
            break
        match = None if "\r" in line or "\0" in line else _LINE(line)
        if match is None:
            text = f"{shorten(line, 80)!r} is not a line of sha256sum; write 64 lower-case digits, two spaces, a path."
            faults.append(Fault(MALFORMED, text, line=number))
            continue
        path = unicodedata.normalize("NFC", match[2])
        fault = _path_fault(path, number)
        if fault is None and path in seen:
            text = f"{shorten(path, 80)!r} is listed twice, first on line {seen[path]}; keep one."
            fault = Fault(MALFORMED, text, line=number)
        if fault is not None:
            faults.append(fault)
            continue
        seen[path] = number
        found.append(Checksum(number, match[1], path))
    return tuple(found), faults


def _path_fault(path: str, line: int) -> Fault | None:
    segments = path.split("/")
    if path.startswith("/") or ".." in segments:
        text = f"{shorten(path, 80)!r} leaves the port; write a path below the port's root."
        return Fault(ESCAPE, text, line=line)
    if "" in segments or "." in segments:
        text = f"{shorten(path, 80)!r} is not in its plain form; remove './', '//' and a final '/'."
        return Fault(MALFORMED, text, line=line)
    return None


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return enumerate(lines, 1)
