"""Hash many files: big ones first, two threads, small ones in batches; one huge file with a reader ahead of the hasher.

SHA-256 and reads release the GIL, so threads scale over cores. What a thread reads lands in one page-aligned buffer of
its own; no file is ever mapped into memory (one that shrinks would kill the process).
"""

import hashlib
import os
import threading
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from queue import SimpleQueue

from calaudit.evidence.found import Found
from calaudit.evidence.reader import (
    BUFFER,
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
"""Bytes from which a file is work for itself."""

AHEAD = 64 << 20
"""Bytes from which the last big file gets a thread that reads ahead."""

_BATCH = 64
_BUFFERS = 3

Results = dict[str, Reading | Problem]


def digest_all(
    root: int, files: Iterable[Found], *, threads: int, keep: Collection[str] = (), heads: Collection[str] = ()
) -> Results:
    """Read and hash files; a reading or a problem for each path.

    ``keep`` are the paths whose bytes stay in memory, ``heads`` those of which the beginning does.
    """
    work = _plan(files)
    results: Results = {}
    failures: list[BaseException] = []
    last_big = next((n for n in range(len(work) - 1, -1, -1) if len(work[n]) == 1 and _size(work[n][0]) >= AHEAD), -1)
    queue = deque(enumerate(work))

    def serve() -> None:
        worker = _Worker(root, keep, heads)
        try:
            while True:
                try:
                    number, batch = queue.popleft()
                except IndexError:
                    return
                for found in batch:
                    results[found.path] = worker.read(found, ahead=number == last_big)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(error)
            queue.clear()
        finally:
            worker.close()

    helpers = [threading.Thread(target=serve, daemon=True) for _ in range(min(threads, len(work)) - 1)]
    for helper in helpers:
        helper.start()
    serve()
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]
    return results


def _plan(files: Iterable[Found]) -> list[Sequence[Found]]:
    ordered = list(files)
    big = sorted((f for f in ordered if _size(f) >= BIG), key=lambda f: (-_size(f), f.path))
    small = [f for f in ordered if _size(f) < BIG]
    return [*([f] for f in big), *(small[n : n + _BATCH] for n in range(0, len(small), _BATCH))]


def _size(found: Found) -> int:
    return found.size


class _Worker:
    """What one thread needs to read files: a chain of open folders and a buffer."""

    def __init__(self, root: int, keep: Collection[str], heads: Collection[str]) -> None:
        self._opener = Opener(root)
        self._buffer = new_buffer()
        self._view = memoryview(self._buffer)
        self._keep = keep
        self._heads = heads

    def close(self) -> None:
        self._opener.close()
        self._view.release()
        self._buffer.close()

    def read(self, found: Found, *, ahead: bool) -> Reading | Problem:
        try:
            if found.path in self._keep:
                return read_whole(self._opener, found)
            return self._hash(found, ahead=ahead)
        except (OSError, ChangedError) as error:
            return unread(found, error)

    def _hash(self, found: Found, *, ahead: bool) -> Reading:
        size, view = found.size, self._view
        fd = self._opener.open(found.raw)
        try:
            length = os.readv(fd, (view,)) if size else 0
            first = view if length == BUFFER else view[:length]
            hasher = hashlib.sha256(first)
            textual = is_textual(self._buffer, length)
            head = bytes(first[:HEAD]) if found.path in self._heads else b""
            if length < size:
                if not length:
                    raise ChangedError
                (_hash_ahead if ahead else _hash_rest)(fd, size - length, hasher, view)
            elif length > size:
                raise ChangedError
            check_same(fd, found)
        finally:
            os.close(fd)
        return Reading(found=found, sha256=hasher.hexdigest(), textual=textual, head=head)


def _hash_rest(fd: int, missing: int, hasher: "hashlib._Hash", view: memoryview) -> None:
    update, readv, whole = hasher.update, os.readv, (view,)
    while missing > 0:
        length = readv(fd, whole)
        if not length:
            raise ChangedError
        update(view if length == BUFFER else view[:length])
        missing -= length


def _hash_ahead(fd: int, missing: int, hasher: "hashlib._Hash", view: memoryview) -> None:
    """As :func:`_hash_rest`, while a thread fills the next buffers."""
    spare = [memoryview(new_buffer()) for _ in range(_BUFFERS - 1)]
    free: SimpleQueue[memoryview | None] = SimpleQueue()
    full: SimpleQueue[tuple[memoryview, int] | OSError] = SimpleQueue()
    for buffer in (view, *spare):
        free.put(buffer)

    def fill(left: int) -> None:
        try:
            while left > 0 and (buffer := free.get()) is not None:
                length = os.readv(fd, (buffer,))
                full.put((buffer, length))
                left = left - length if length else 0
        except OSError as error:
            full.put(error)

    reader = threading.Thread(target=fill, args=(missing,), daemon=True)
    reader.start()
    try:
        while missing > 0:
            item = full.get()
            if isinstance(item, OSError):
                raise item
            buffer, length = item
            if not length:
                raise ChangedError
            hasher.update(buffer if length == BUFFER else buffer[:length])
            missing -= length
            free.put(buffer)
    finally:
        free.put(None)
        reader.join()
