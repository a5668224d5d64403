"""Hash many files on all cores: long ones block by block, the others in batches.

SHA-256 and reads release the GIL, so threads scale over cores. What a thread reads lands in one page-aligned buffer of
its own; no file is ever mapped into memory (one that shrinks would kill the process).

The long file with most left goes first, a stretch at a time, so that all of them end together; the batches come after
them; who then finds nothing else helps with a long file that another thread has, which makes that faster by its reads.
"""

import hashlib
import os
import threading
from collections import deque
from collections.abc import Collection, Iterable, Sequence

from calaudit.evidence.chain import BLOCK, Chain
from calaudit.evidence.found import Found
from calaudit.evidence.reader import (
    HEAD,
    ChangedError,
    Opener,
    Reading,
    check_same,
    is_textual,
    new_buffer,
    read_whole,
    unread,
)
from calaudit.model import Problem

BIG = 8 << 20
"""Bytes from which a file is hashed block by block."""

_BATCH = 64
_OPEN = 16

Results = dict[str, Reading | Problem]


def digest_all(
    root: int, files: Iterable[Found], *, threads: int, keep: Collection[str] = (), heads: Collection[str] = ()
) -> Results:
    """Read and hash files; a reading or a problem for each path.

    ``keep`` are the paths whose bytes stay in memory, ``heads`` those of which the beginning does.
    """
    work = _Work(files, threads=threads, keep=keep, heads=heads)
    failures: list[BaseException] = []

    def serve() -> None:
        worker = _Worker(root, work)
        try:
            while worker.do_some():
                pass
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(error)
            work.drop()
        finally:
            worker.close()

    helpers = [threading.Thread(target=serve, daemon=True) for _ in range(min(threads, work.width) - 1)]
    for helper in helpers:
        helper.start()
    serve()
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]
    return work.results


class _Work:
    """What there is to do, dealt out to one thread at a time, and what came of it."""

    def __init__(self, files: Iterable[Found], *, threads: int, keep: Collection[str], heads: Collection[str]) -> None:
        ordered = list(files)
        small = [f for f in ordered if f.size < BIG or f.path in keep]
        self.keep, self.heads = keep, heads
        self.results: Results = {}
        self._long = sorted(
            (f for f in ordered if f.size >= BIG and f.path not in keep), key=lambda f: (f.size, f.path)
        )
        self._chains: list[Chain] = []
        self._batches = deque(small[n : n + _BATCH] for n in range(0, len(small), _BATCH))
        self._lock = threading.Lock()
        self._open = max(_OPEN, threads)

    @property
    def width(self) -> int:
        """How many threads have something to do at first."""
        return max(1, 2 * len(self._long) + len(self._batches))

    def drop(self) -> None:
        """Give nothing out any more."""
        with self._lock:
            self._long.clear()
            self._batches.clear()

    def take(self, opener: Opener) -> Chain | Sequence[Found] | None:
        """What to do next: blocks of a long file, or a batch of others; None if there is nothing."""
        with self._lock:
            chain = self._free(opener)
            if chain is None and self._batches:
                return self._batches.popleft()
            chain = chain or _most(c for c in self._chains if c.workers == 1 and c.left > BLOCK)
            if chain is not None:
                chain.workers += 1
            return chain

    def give_back(self, chain: Chain) -> None:
        """One thread leaves a long file; the last one that leaves it at its end says what was read."""
        with self._lock:
            chain.workers -= 1
            if chain.workers or chain.left:
                return
            self._chains.remove(chain)
        try:
            self.results[chain.found.path] = chain.finish()
        except (OSError, ChangedError) as error:
            self.results[chain.found.path] = unread(chain.found, error)

    def _free(self, opener: Opener) -> Chain | None:
        """The long file with most left of those that nobody has; opens it if it is not yet."""
        known = _most(c for c in self._chains if not c.workers)
        while self._long and len(self._chains) < self._open and (known is None or self._long[-1].size > known.left):
            found = self._long.pop()
            try:
                fd = opener.open(found.raw)
            except (OSError, ChangedError) as error:
                self.results[found.path] = unread(found, error)
                continue
            known = Chain(found, fd, head=found.path in self.heads)
            self._chains.append(known)
        return known


def _most(chains: Iterable[Chain]) -> Chain | None:
    return max(chains, key=lambda chain: chain.left, default=None)


class _Worker:
    """What one thread needs to read files: a chain of open folders and a buffer."""

    def __init__(self, root: int, work: _Work) -> None:
        self._work = work
        self._opener = Opener(root)
        self._buffer = new_buffer(BLOCK)
        self._view = memoryview(self._buffer)

    def close(self) -> None:
        self._opener.close()

    def do_some(self) -> bool:
        """Do one piece of the work; whether there was any."""
        task = self._work.take(self._opener)
        if task is None:
            return False
        if isinstance(task, Chain):
            try:
                task.work(self._view)
            finally:
                self._work.give_back(task)
        else:
            for found in task:
                self._work.results[found.path] = self._read(found)
        return True

    def _read(self, found: Found) -> Reading | Problem:
        try:
            return (read_whole if found.path in self._work.keep else self._hash)(self._opener, found)
        except (OSError, ChangedError) as error:
            return unread(found, error)

    def _hash(self, opener: Opener, found: Found) -> Reading:
        size, view = found.size, self._view
        fd = opener.open(found.raw)
        try:
            length = os.readv(fd, (view,)) if size else 0
            first = view[:length]
            hasher = hashlib.sha256(first)
            textual = is_textual(self._buffer, length)
            head = bytes(first[:HEAD]) if found.path in self._work.heads else b""
            missing = size - length
            while missing > 0 and length:
                length = os.readv(fd, (view,))
                hasher.update(view[:length])
                missing -= length
            if missing:  # it ends before, or after
                raise ChangedError
            check_same(fd, found)
        finally:
            os.close(fd)
        return Reading(found=found, sha256=hasher.hexdigest(), textual=textual, head=head)
