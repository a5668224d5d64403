"""One run at a time works on a port."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calaudit.errors import UsageError
from calaudit.execute.placing import open_port

__all__ = ["locked"]

_PATIENCE = 1.0  # seconds


@contextmanager
def locked(port: Path) -> Iterator[None]:
    """Keep others from running steps of this port meanwhile; the lock leaves nothing in it.

    Raises:
        UsageError: somebody else does, or the port cannot be opened.
    """
    root = open_port(port)
    try:
        _lock(root, port)
        yield
    finally:
        os.close(root)


def _lock(root: int, port: Path) -> None:
    # A run that was killed while it started a process leaves its lock to that one until it executes its program.
    patience = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(root, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= patience:
                raise UsageError(f"Another calaudit run works on {port}; wait for it.") from error
            time.sleep(_PATIENCE / 50)
        else:
            return
