"""Removing what a command left, however deep it is, and whatever rights it took away.

Paths and recursion end somewhere, and a command can nest folders beyond that. So nothing goes down here: each folder is
opened up and emptied by its descriptor, and the folders in it are moved up next to it, where they are at hand.
"""

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

__all__ = ["remove_tree"]

_LOOK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_TRIES, _PAUSE = 50, 0.02  # seconds


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it, even where somebody is just being killed and still writes.

    It never raises: what cannot be removed is left to the next run.
    """
    for _ in range(_TRIES):
        with suppress(OSError), _opened(folder) as top:
            _empty(top)
        with suppress(OSError):
            folder.rmdir()
        if not os.path.lexists(folder):
            return
        time.sleep(_PAUSE)


def _empty(top: int) -> None:
    """Empty a folder; those that are in its folders come up to it, under names that nobody could have taken."""
    fresh = (f"{mark}-{number}" for mark in (secrets.token_hex(16),) for number in count())
    todo = _names(top)
    while todo:
        name = todo.pop()
        with suppress(OSError):
            if not _unlinked(name, top):
                todo += _raise_folders(name, top, fresh)
                os.rmdir(name, dir_fd=top)


def _raise_folders(name: str, top: int, fresh: Iterator[str]) -> list[str]:
    """Empty one folder of ``top``; the new names of those that were in it."""
    raised = []
    with _opened(name, top) as here:
        for inner in _names(here):
            with suppress(OSError):
                if _unlinked(inner, here):
                    continue
                with _opened(inner, here):  # one that cannot be written cannot be moved
                    raised.append(next(fresh))
                    os.rename(inner, raised[-1], src_dir_fd=here, dst_dir_fd=top)
    return raised


def _unlinked(name: str, folder: int) -> bool:
    """Remove a name unless it is a folder; whether it was none."""
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return False
    os.unlink(name, dir_fd=folder)
    return True


@contextmanager
def _opened(name: str | Path, folder: int | None = None) -> Iterator[int]:
    """A folder with all rights for its owner, and not what a link leads to."""
    place = os.open(name, _LOOK, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{place}", 0o700)  # noqa: PTH101 - of the descriptor
        here = os.open(f"/proc/self/fd/{place}", _LIST)
    finally:
        os.close(place)
    try:
        yield here
    finally:
        os.close(here)


def _names(folder: int) -> list[str]:
    return os.listdir(folder)
