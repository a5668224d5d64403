"""Read a long JSONL file through two windows of shared memory: hash here, check the lines in forked workers.

Each byte is read once: the workers see the very bytes that were hashed. Memory is the two windows, whatever the file's
length.
"""

import hashlib
import mmap
import os
from collections.abc import Iterator

from calaudit.evidence.faults import FAULTS_LIMIT, MALFORMED, Fault
from calaudit.evidence.found import Found
from calaudit.evidence.jsonl import Checked, RecordSchema, check_lines, shifted
from calaudit.evidence.lines import LINE_LIMIT
from calaudit.evidence.pool import Pool
from calaudit.evidence.reader import ChangedError, Opener, Reading, check_same, is_textual

WINDOW = LINE_LIMIT
"""Bytes of one window; a longer line is refused."""

SPLIT = 32 << 20
"""Bytes from which a JSONL file is read this way."""


def read_records(opener: Opener, found: Found, schema: RecordSchema | None, jobs: int) -> tuple[Reading, Checked]:
    """Read, hash and check a JSONL file of any length.

    Raises:
        OSError: it cannot be read.
        ChangedError: it changed meanwhile.
        WorkerLostError: a worker was killed.
    """
    fd = opener.open(found.raw)
    window = mmap.mmap(-1, 2 * WINDOW)
    try:
        with Pool(window, lambda data: check_lines(data, schema), jobs) as pool:
            scan = _Scan(fd, found.size, window, pool)
            scan.run()
        check_same(fd, found)
        reading = Reading(found=found, sha256=scan.hasher.hexdigest(), textual=scan.textual, marks=tuple(scan.marks))
    finally:
        os.close(fd)
        window.close()
    return reading, scan.total


class _Scan:
    """One pass over a file. While workers check one window, the other one is filled and hashed."""

    def __init__(self, fd: int, size: int, window: mmap.mmap, pool: Pool) -> None:
        self.hasher = hashlib.sha256()
        self.textual = True
        self.total = Checked()
        self.marks: list[tuple[int, bytes]] = []
        self._size = size
        self._fd = fd
        self._missing = size
        self._window = window
        self._pool = pool

    def run(self) -> None:
        base, carry = 0, 0
        asked = 0
        while self._missing or carry:
            end = self._fill(base, carry)
            cut = end if not self._missing else self._window.rfind(b"\n", base, end) + 1
            if not cut:
                self._collect(asked)
                self._refuse_rest()
                return
            parts = list(self._cut(base, cut))
            for start, stop in parts:
                self._pool.ask(start, stop)
            # The other window is free once its lines are checked; what is left of a line goes to its beginning.
            self._collect(asked)
            asked = len(parts)
            base, carry = WINDOW - base, end - cut
            self._window[base : base + carry] = self._window[cut:end]
        self._collect(asked)

    def _fill(self, base: int, carry: int) -> int:
        """Read up to a window full, behind what was carried over; where it ends."""
        with memoryview(self._window) as view:
            end, limit = base + carry, base + WINDOW
            while self._missing and end < limit:
                with view[end : min(limit, end + self._missing)] as free:
                    length = os.readv(self._fd, (free,))
                    if not length:
                        raise ChangedError
                    self.hasher.update(free[:length])
                if end == 0:
                    self.textual = is_textual(self._window, length)
                end += length
                self._missing -= length
        self.marks.append((self._size - self._missing, self.hasher.copy().digest()))
        return end

    def _cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        step = max(1 << 16, (end - start) // self._pool.width + 1)
        while start < end:
            stop = end if end - start <= step else (self._window.find(b"\n", start + step, end) + 1 or end)
            yield start, stop
            start = stop

    def _collect(self, count: int) -> None:
        for _ in range(count):
            found = self._pool.answer()
            room = max(0, FAULTS_LIMIT - len(self.total.faults))
            self.total.faults += [shifted(fault, self.total.count) for fault in found.faults[:room]]
            self.total.more += found.more + len(found.faults[room:])
            self.total.count += found.count

    def _refuse_rest(self) -> None:
        text = f"The line is longer than {LINE_LIMIT >> 20} MiB; what follows was not checked. Write shorter records."
        self.total.faults.append(Fault(MALFORMED, text, line=self.total.count + 1))
        with memoryview(self._window) as view:
            while self._missing:
                with view[: min(WINDOW, self._missing)] as free:
                    length = os.readv(self._fd, (free,))
                    if not length:
                        raise ChangedError
                    self.hasher.update(free[:length])
                self._missing -= length
