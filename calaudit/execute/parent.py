"""The parent of a command, while it runs: it adopts orphans, is closed to others, and notes interrupts."""

import contextlib
import ctypes
import signal
import threading
from collections.abc import Iterator

__all__ = ["closed", "noted", "reaping"]

_GET_DUMPABLE, _SET_DUMPABLE, _SET_CHILD_SUBREAPER = 3, 4, 36  # <linux/prctl.h>


@contextlib.contextmanager
def reaping() -> Iterator[None]:
    """Have orphans of the command become children of this process, so that none gets away."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@contextlib.contextmanager
def closed() -> Iterator[None]:
    """Keep this process's environment and memory from others of the same user: passphrases are in both.

    Root, and whoever may trace every process, reads them all the same.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    before = libc.prctl(_GET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_DUMPABLE, int(before == 1), 0, 0, 0)  # nobody may set 2


@contextlib.contextmanager
def noted(interrupts: list[int]) -> Iterator[None]:
    """Note interrupts and requests to end: an exception could come between any two lines, and leave a command alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with contextlib.ExitStack() as stack:
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if before not in (signal.SIG_IGN, None):  # what is ignored stays so (nohup)
                stack.callback(signal.signal, number, before)
                signal.signal(number, lambda received, _: interrupts.append(received))
        yield
