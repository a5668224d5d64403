"""Text: UTF-8 that shows what it says.

A control character steers a terminal or an editor instead of showing, so a reviewer and a program read different texts:
C0 except tab and line feed, a carriage return that does not end a line, DEL, C1, bidirectional overrides and isolates.
"""

import re
from collections.abc import Iterator
from itertools import islice

from calaudit.errors import Malformed
from calaudit.evidence.faults import CONTROL, FAULTS_KEPT, MALFORMED, Fault, limited, malformed
from calaudit.evidence.lines import LINE_LIMIT, Lines
from calaudit.evidence.nouns import Block
from calaudit.evidence.utf8 import check_utf8

_CONTROL = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]"
)
_SUSPECT = bytes(c for c in range(0x20) if c not in b"\t\n") + b"\x7f\xc2\xe2"


def check_text(data: bytes) -> list[Fault]:
    """What is wrong with a text that is in memory as a whole."""
    return list(limited(_check(Block(1, data))))


class TextScan:
    """A check of a long text that arrives in blocks, which may end anywhere."""

    def __init__(self) -> None:
        """Begin at the first byte."""
        self._lines = Lines()
        self._faults: list[Fault] = []

    def feed(self, data: bytes) -> None:
        """Look at the next block."""
        block = self._lines.feed(data)
        if block is not None:
            self._look(block)
            if not block.data.endswith(b"\n"):
                text = f"The line is longer than {LINE_LIMIT >> 20} MiB; break it."
                self._faults.append(Fault(MALFORMED, text, line=block.line))

    def finish(self) -> list[Fault]:
        """The faults of the whole text."""
        block = self._lines.finish()
        if block is not None:
            self._look(block)
        return list(limited(self._faults))

    def _look(self, block: Block) -> None:
        for fault in _check(block):
            if len(self._faults) < FAULTS_KEPT or not fault.harmless:
                self._faults.append(fault)


def _check(block: Block) -> Iterator[Fault]:
    try:
        check_utf8(block.data, first_line=block.line)
    except Malformed as error:
        yield malformed(error)
        return
    yield from find_controls(block)


def find_controls(block: Block) -> Iterator[Fault]:
    """A fault for each of the first control characters in these bytes, which are UTF-8."""
    data = block.data
    if len(data.translate(None, _SUSPECT)) == len(data):
        return
    line, last = block.line, 0
    for found in islice(_CONTROL.finditer(data), FAULTS_KEPT):
        line += data.count(b"\n", last, found.start())
        last = found.start()
        yield Fault(
            CONTROL,
            f"The control character U+{ord(found[0].decode()):04X} steers how the text shows; remove it.",
            line=line,
            harmless=True,
        )
