"""Processes as ``/proc`` shows them: who is below whom, and how large they were."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["children", "descendants", "high_water", "levels", "send"]

_KIB = 1024


def descendants(pid: int) -> Iterator[int]:
    """The processes below one."""
    return (one for depth, one in levels(pid) if depth > 0)


def levels(pid: int) -> Iterator[tuple[int, int]]:
    """A process and those below it, with their depth."""
    todo = [(0, pid)]
    while todo:
        depth, one = todo.pop()
        yield depth, one
        todo += [(depth + 1, child) for child in children(one)]


def children(pid: int) -> list[int]:
    """The processes that one started, or that fell to it."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names are enough
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_bytes().split())
    except OSError:
        return found  # it ended meanwhile
    return found


def high_water(pid: int) -> int | None:
    """The largest resident size (bytes) that a process ever had; None when it is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * _KIB
    except OSError:
        return None
    return None


def send(pid: int, number: int) -> None:
    """Signal a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
