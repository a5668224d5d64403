"""Publishing into a port: all of a step's files, or none of them, whenever the power fails.

Renames over several folders are not atomic, so there is a journal: ``.calaudit/`` in the port. First every new file is
copied there (on the port's own file system) and brought to the disk. Then ``commit.json`` appears, by one rename: what
is to be put where, and what is to go. From there on the new state is what counts: each rename can be done again, by
whoever comes next. Before it, the old one counts: the folder is thrown away. ``verify`` sees the folder and stays open.
"""

import fcntl
import json
import os
import re
import signal
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json
from calaudit.evidence.walk import FOLDER_FLAGS
from calaudit.execute.placing import (
    COMMIT,
    FOLDER,
    NEW,
    READ,
    chunks_of,
    copy_in,
    damaged,
    demand_place,
    digest_of,
    discard,
    exists,
    open_port,
    put,
    remove,
)

__all__ = ["FOLDER", "Reached", "Swapped", "locked", "pending", "publish", "recover"]

Reached = Callable[[str], None]
"""Told each point between two steps of publishing; tests end the process there."""


class Swapped(UsageError):
    """A file is another one than was examined; nothing was published."""


_TAG = "calaudit-journal/v1"
_PATIENCE = 1.0  # seconds
_PATH = re.compile(r"(?!\.calaudit(?:/|$))(?:(?!\.{1,2}(?:/|$))[^/\\\x00-\x1f\x7f]+/)*(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]+")
_STAGED = re.compile(r"[0-9]{1,9}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


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
        if not _PATH.fullmatch(path):
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
                    _commit(box, {"schema": _TAG, "writes": listed, "removes": removed}, reached)
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
                listed, removes = _read_commit(box)
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


def _commit(box: int, document: Mapping[str, Any], reached: Reached) -> None:
    temporary = f"{COMMIT}.new"
    descriptor = os.open(temporary, NEW, 0o666, dir_fd=box)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(document).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    reached("commit")
    os.rename(temporary, COMMIT, src_dir_fd=box, dst_dir_fd=box)
    os.fsync(box)


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


# Reading ------------------------------------------------------------------------------------------------------------


def _read_commit(box: int) -> tuple[list[dict[str, str]], list[str]]:
    """What was committed; everything in it is doubted, since a port may come from somebody else."""
    try:
        document = parse_json(b"".join(chunks_of(os.open(COMMIT, READ, dir_fd=box))))
    except Malformed as error:
        raise damaged(error.message) from error
    if not isinstance(document, dict) or set(document) != {"schema", "writes", "removes"} or document["schema"] != _TAG:
        raise damaged("it is no journal of this version")
    writes, removes = document["writes"], document["removes"]
    if not isinstance(writes, list) or not isinstance(removes, list):
        raise damaged("it lists nothing")
    for write in writes:
        _doubt(write, box)
    for path in removes:
        if not isinstance(path, str) or not _PATH.fullmatch(path):
            raise damaged(f"{path!r} is no path of a port")
    return cast("list[dict[str, str]]", writes), cast("list[str]", removes)


def _doubt(write: object, box: int) -> None:
    if not isinstance(write, dict) or set(write) != {"path", "staged", "sha256"}:
        raise damaged("an entry is no entry")
    for member, form in (("path", _PATH), ("staged", _STAGED), ("sha256", _SHA256)):
        if not isinstance(write[member], str) or not form.fullmatch(write[member]):
            raise damaged(f"{write[member]!r} is no {member}")
    if exists(write["staged"], box) and digest_of(write["staged"], box) != write["sha256"]:
        raise damaged(f"the new {write['path']} is not what was committed")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let an interrupt wait until what was committed is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
