"""A long file, hashed block by block by whoever is free.

SHA-256 of a file is one chain, but its blocks can be read ahead: while one thread hashes a block, another reads the
next one, and then they change roles. Nobody hands a block over, so each is hashed by the core in whose cache it lies (a
reader that fills buffers for a hasher was slower than no reader at all, where it was measured on cores that share no
cache).
"""

import hashlib
import os
import threading

from calaudit.evidence.found import Found
from calaudit.evidence.reader import HEAD, SNIFF, ChangedError, Reading, check_same, is_textual

BLOCK = 6 << 20
"""Bytes that one thread takes at a time: many, since each turn wakes a thread, and no more than caches hold."""

PIECE = 512 << 10
"""Bytes of one read where the hasher need not wait: they stay in the cache next to the core."""

_STAY = 8


class LongFile:
    """One open file, of which any thread may hash the next block; each block in its turn.

    ``workers`` and ``left`` are for whoever deals the work out, one thread at a time.
    """

    def __init__(self, found: Found, fd: int, *, head: bool) -> None:
        """``fd`` is closed by :meth:`close`; ``head`` says whether the beginning stays in memory."""
        self.found = found
        self.workers = 0
        self._fd = fd
        self._keep = HEAD if head else 0
        self._head = b""
        self._textual = True
        self._hasher = hashlib.sha256()
        self._claimed = 0
        self._hashed = 0
        self._lock = threading.Lock()
        self._gates: dict[int, threading.Lock] = {}  # of the threads that wait, by where their blocks start
        self._error: OSError | ChangedError | None = None

    @property
    def left(self) -> int:
        """Bytes that nobody has begun to read."""
        return 0 if self._error else self.found.size - self._claimed

    def work(self, buffer: memoryview) -> None:
        """Hash some blocks: those that come next, until another file should have its turn."""
        try:
            for _ in range(_STAY):
                with self._lock:
                    start, end = self._claimed, min(self._claimed + BLOCK, self.found.size)
                    if start == end or self._error:
                        return
                    self._claimed = end
                    mine = self._hashed == start
                if mine:
                    for at in range(start, end, PIECE):
                        self._hash(self._read(buffer[: min(PIECE, end - at)], at), at)
                else:
                    block = self._read(buffer[: end - start], start)
                    if not self._await(start):
                        return
                    self._hash(block, start)
                self._pass_on(end)
        except (OSError, ChangedError) as error:
            self._give_up(error.with_traceback(None))  # whose frames would keep the buffer
        except BaseException:
            self._give_up(ChangedError())  # or those who wait for this block would wait for ever
            raise

    def finish(self) -> Reading:
        """What was read, once all blocks were hashed.

        Raises:
            OSError: it could not be read.
            ChangedError: it changed meanwhile.
        """
        if self._error:
            raise self._error
        check_same(self._fd, self.found)
        return Reading(found=self.found, sha256=self._hasher.hexdigest(), textual=self._textual, head=self._head)

    def _await(self, start: int) -> bool:
        """Wait until all before a block is hashed; False if that will never be."""
        with self._lock:
            if self._error or self._hashed == start:
                return self._error is None
            gate = self._gates[start] = threading.Lock()
            gate.acquire()
        with gate:  # opened by whoever hashes what is before; a condition would wake twice, for its own lock too
            return self._error is None

    def _pass_on(self, end: int) -> None:
        with self._lock:
            self._hashed = end
            if gate := self._gates.pop(end, None):
                gate.release()

    def _give_up(self, error: OSError | ChangedError) -> None:
        with self._lock:
            self._error = self._error or error
            while self._gates:
                self._gates.popitem()[1].release()

    def _read(self, block: memoryview, start: int) -> memoryview:
        filled = os.preadv(self._fd, (block,), start)
        while filled < len(block):
            length = os.preadv(self._fd, (block[filled:],), start + filled)
            if not length:
                raise ChangedError
            filled += length
        return block

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _hash(self, block: memoryview, start: int) -> None:
        if start == 0:
            self._textual = is_textual(bytes(block[:SNIFF]))
        if len(self._head) < self._keep:
            self._head += bytes(block[: self._keep - len(self._head)])
        self._hasher.update(block)
