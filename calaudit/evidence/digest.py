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

from calaudit.evidence.found import Found
from calaudit.evidence.long_file import BLOCK, LongFile
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

LONG = 8 << 20
"""Bytes from which a file is hashed block by block."""

_BATCH = 64  # files that a thread takes at a time
_OPEN = 16  # long files that are open at a time, and one a thread

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
    work.close()
    if failures:
        raise failures[0]
    return work.results


class _Work:
    """What there is to do, dealt out to one thread at a time, and what came of it."""

    def __init__(self, files: Iterable[Found], *, threads: int, keep: Collection[str], heads: Collection[str]) -> None:
        ordered = list(files)
        small = [f for f in ordered if f.size < LONG or f.path in keep]
        self.keep, self.heads = keep, heads
        self.results: Results = {}
        long = (f for f in ordered if f.size >= LONG and f.path not in keep)
        self._long = sorted(long, key=lambda f: (f.size, f.path))  # the longest is taken first, from the end
        self._begun: list[LongFile] = []
        self._batches = deque(small[n : n + _BATCH] for n in range(0, len(small), _BATCH))
        self._lock = threading.Lock()
        self._open = max(_OPEN, threads)

    @property
    def width(self) -> int:
        """How many threads may have something to do: two can share a long file."""
        return max(1, 2 * len(self._long) + len(self._batches))

    def drop(self) -> None:
        """Give nothing out any more."""
        with self._lock:
            self._long.clear()
            self._batches.clear()

    def take(self, opener: Opener) -> LongFile | Sequence[Found] | None:
        """What to do next: blocks of a long file, or a batch of others; None if there is nothing."""
        with self._lock:
            file = self._free(opener)
            if file is None and self._batches:
                return self._batches.popleft()
            file = file or _most(f for f in self._begun if f.workers == 1 and f.left > BLOCK)
            if file is not None:
                file.workers += 1
            return file

    def give_back(self, file: LongFile) -> None:
        """One thread leaves a long file; the last one that leaves it at its end says what was read."""
        with self._lock:
            file.workers -= 1
            if file.workers or file.left:
                return
            self._begun.remove(file)
        try:
            self.results[file.found.path] = file.finish()
        except (OSError, ChangedError) as error:
            self.results[file.found.path] = unread(file.found, error)
        finally:
            file.close()

    def close(self) -> None:
        """Close what is still open, because the work ended early."""
        while self._begun:
            self._begun.pop().close()

    def _free(self, opener: Opener) -> LongFile | None:
        """The long file with most left of those that nobody has; opens it if it is not yet."""
        known = _most(f for f in self._begun if not f.workers)
        while self._long and len(self._begun) < self._open and (known is None or self._long[-1].size > known.left):
            found = self._long.pop()
            try:
                fd = opener.open(found.raw)
            except (OSError, ChangedError) as error:
                self.results[found.path] = unread(found, error)
                continue
            known = LongFile(found, fd, head=found.path in self.heads)
            self._begun.append(known)
        return known


def _most(files: Iterable[LongFile]) -> LongFile | None:
    return max(files, key=lambda file: file.left, default=None)


class _Worker:
    """What one thread needs to read files: the folders above the last file, and a buffer."""

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
        if isinstance(task, LongFile):
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
