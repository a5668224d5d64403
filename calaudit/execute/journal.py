"""Publishing into a port: all of a step's files, or none of them, whenever the power fails.

Renames over several folders are not atomic, so there is a journal: ``.calaudit/`` in the port. First every new file is
copied there (on the port's own file system) and brought to the disk. Then ``commit.json`` appears, by one rename: what
is to be put where, and what is to go. From there on the new state is what counts: each rename can be done again, by
whoever comes next. Before it, the old one counts: the folder is thrown away. ``verify`` sees the folder and stays open.
"""

import os
import signal
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from calaudit.errors import UsageError
from calaudit.evidence.walk import FOLDER_FLAGS
from calaudit.execute.commit import PATH, read_commit, write_commit
from calaudit.execute.placing import (
    COMMIT,
    FOLDER,
    copy_in,
    damaged,
    demand_place,
    discard,
    open_port,
    put,
    remove,
)

__all__ = ["FOLDER", "Reached", "Swapped", "pending", "publish", "recover"]

Reached = Callable[[str], None]
"""Told each point between two steps of publishing; tests end the process there."""


class Swapped(UsageError):
    """A file is another one than was examined; nothing was published."""


def pending(port: Path) -> bool:
    """Whether a publication was cut off."""
    return os.path.lexists(port / FOLDER)


def publish(
    port: Path,
    writes: Mapping[str, Path | bytes],
    removes: Iterable[str] = (),
    *,
    digests: Mapping[str, str] | None = None,
    reached: Reached = lambda _: None,
) -> None:
    """Put files (their source, or their bytes) into a port and take others out, all or nothing.

    ``digests`` are those that files must have, by path: their sources were examined, and signed for, before.

    Raises:
        UsageError: a path is none of a port, or a link or file is where a folder has to be.
        Swapped: a source is another file than it was.
        OSError: nothing was changed, except when the disk fails after the commit: then the journal is still there, and
            :func:`recover` goes on.
    """
    recover(port)
    removed = sorted(set(removes) - set(writes))
    for path in (*writes, *removed):
        if not PATH.fullmatch(path):
            raise UsageError(f"{path!r} is no path of a port, so nothing is published there.")
    root = open_port(port)
    try:
        reached("begin")
        os.mkdir(FOLDER, dir_fd=root)
        try:
            box = os.open(FOLDER, FOLDER_FLAGS, dir_fd=root)
            try:
                listed = _stage(root, box, writes, digests or {}, reached)
                with _undisturbed():
                    write_commit(box, listed, removed, reached)
                    os.fsync(root)
                    reached("committed")
                    _apply(root, box, listed, removed, reached)
            finally:
                os.close(box)
        except BaseException:
            if COMMIT not in os.listdir(port / FOLDER):  # noqa: PTH208 - names are enough
                discard(root)
            raise
        _finish(root, reached)
    finally:
        os.close(root)


def recover(port: Path) -> str | None:
    """Complete or roll back what was cut off: ``completed``, ``rolled back``, or None where there is nothing.

    Raises:
        UsageError: the journal is damaged, or is not one.
    """
    root = open_port(port)
    try:
        try:
            box = os.open(FOLDER, FOLDER_FLAGS, dir_fd=root)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise damaged(f"it is not a folder ({error.strerror})") from error
        try:
            names = os.listdir(box)  # noqa: PTH208 - of a descriptor
            for name in names:
                if not stat.S_ISREG(os.stat(name, dir_fd=box, follow_symlinks=False).st_mode):
                    raise damaged(f"{name} in it is not a file")
            if COMMIT in names:
                listed, removes = read_commit(box)
                with _undisturbed():
                    _apply(root, box, listed, removes, lambda _: None)
        finally:
            os.close(box)
        discard(root)
        return "completed" if COMMIT in names else "rolled back"
    finally:
        os.close(root)


# Before the commit --------------------------------------------------------------------------------------------------


def _stage(
    root: int, box: int, writes: Mapping[str, Path | bytes], digests: Mapping[str, str], reached: Reached
) -> list[dict[str, str]]:
    listed = []
    for number, (path, source) in enumerate(sorted(writes.items())):
        demand_place(root, path)
        name = str(number)
        reached(f"stage {path}")
        digest = copy_in(source, name, box)
        if digests.get(path, digest) != digest:
            raise Swapped(f"{path} was changed after it was examined: it has {digest}, and had {digests[path]}.")
        listed.append({"path": path, "staged": name, "sha256": digest})
    os.fsync(box)
    reached("staged")
    return listed


# After it -----------------------------------------------------------------------------------------------------------


def _apply(root: int, box: int, writes: Iterable[Mapping[str, str]], removes: Iterable[str], reached: Reached) -> None:
    """Do, or do again, what was committed."""
    for path in removes:
        reached(f"remove {path}")
        remove(root, path)
    for write in writes:
        reached(f"put {write['path']}")
        put(root, box, write)
    reached("applied")


def _finish(root: int, reached: Reached) -> None:
    reached("finish")
    discard(root)
    reached("done")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let an interrupt wait until what was committed is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
