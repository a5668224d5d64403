"""Processes that check lines in one shared window of memory, which the caller fills.

Forked, so nothing is executed and nothing copied: a worker is told where its lines begin and end, and answers with what
it found. With one job, or where other threads run (a fork would copy their locks), the caller's own process does the
work.
"""

import gc
import mmap
import os
import struct
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn, Self

import orjson

from calaudit.evidence.faults import Fault
from calaudit.evidence.jsonl import Checked

_TASK = struct.Struct("=QQ")
_SIZE = struct.Struct("=Q")

Check = Callable[[bytes], Checked]


class WorkerLostError(Exception):
    """A worker ended before it answered (killed, or out of memory)."""


class Pool:
    """Workers over one window; answers come in the order of the questions."""

    def __init__(self, window: mmap.mmap, check: Check, jobs: int) -> None:
        """``window`` is anonymous shared memory; ``check`` judges whole lines."""
        self._window = window
        self._check = check
        self._workers: list[_Worker] = []
        self._asked: deque[tuple[_Worker | None, int, int]] = deque()
        self._turn = 0
        if jobs > 1 and threading.active_count() == 1:
            for _ in range(jobs):
                self._workers.append(_Worker(window, check, self._workers))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.close()

    @property
    def width(self) -> int:
        """In how many parts a window is best cut."""
        return max(1, 2 * len(self._workers))

    def ask(self, start: int, end: int) -> None:
        """Have the lines between two offsets of the window checked; leave them alone until :meth:`answer`."""
        worker = None
        if self._workers:
            worker = self._workers[self._turn % len(self._workers)]
            self._turn += 1
            worker.ask(start, end)
        self._asked.append((worker, start, end))

    def answer(self) -> Checked:
        """What was found in the lines that were asked for longest ago.

        Raises:
            WorkerLostError: the worker that looked at them is gone.
        """
        worker, start, end = self._asked.popleft()
        return self._check(self._window[start:end]) if worker is None else worker.answer()


class _Worker:
    """One forked process and the two pipes to it."""

    def __init__(self, window: mmap.mmap, check: Check, siblings: list["_Worker"]) -> None:
        tasks, self._tasks = os.pipe()
        self._answers, answers = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            # An end of a pipe that stays open here would hide from a sibling that the parent is gone.
            for fd in [*self.ends, *(fd for s in siblings for fd in s.ends)]:
                os.close(fd)
            _serve(window, check, tasks, answers)
        os.close(tasks)
        os.close(answers)

    @property
    def ends(self) -> tuple[int, int]:
        """The parent's ends of the pipes."""
        return self._tasks, self._answers

    def ask(self, start: int, end: int) -> None:
        try:
            os.write(self._tasks, _TASK.pack(start, end))
        except BrokenPipeError as error:
            raise WorkerLostError from error

    def answer(self) -> Checked:
        size = _SIZE.unpack(_receive(self._answers, _SIZE.size))[0]
        count, more, faults = orjson.loads(_receive(self._answers, size))
        return Checked(count=count, more=more, faults=[Fault(*fault) for fault in faults])

    def close(self) -> None:
        os.close(self._tasks)
        os.close(self._answers)
        try:
            os.waitpid(self._pid, 0)
        except ChildProcessError:
            return  # the host process ignores SIGCHLD, so the kernel has reaped it


def _serve(window: mmap.mmap, check: Check, tasks: int, answers: int) -> NoReturn:
    """The life of a worker; it ends with the process, whatever happens."""
    status = 1
    try:
        gc.disable()  # parsed records have no cycles, and looking for some takes a tenth of the time
        while task := os.read(tasks, _TASK.size):
            start, end = _TASK.unpack(task)
            found = check(window[start:end])
            faults = [(f.rule, f.message, f.line, f.pointer, f.expected, f.actual, f.harmless) for f in found.faults]
            body = orjson.dumps((found.count, found.more, faults))
            _send(answers, _SIZE.pack(len(body)) + body)
        status = 0
    finally:
        os._exit(status)


def _send(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _receive(fd: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(fd, min(size, 1 << 16))
        if not part:
            raise WorkerLostError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
