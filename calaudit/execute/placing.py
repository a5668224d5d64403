"""Files of a port by descriptors of its folders: no link is followed, and everything is brought to the disk."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from calaudit.errors import UsageError
from calaudit.evidence.litter import JOURNAL
from calaudit.evidence.reread import ROOT_FLAGS
from calaudit.evidence.walk import FOLDER_FLAGS

__all__ = [
    "COMMIT",
    "FOLDER",
    "NEW",
    "READ",
    "chunks_of",
    "copy_in",
    "damaged",
    "demand_place",
    "digest_of",
    "discard",
    "exists",
    "open_port",
    "put",
    "remove",
]

FOLDER = JOURNAL.removesuffix("/")
"""The journal's folder in the port; it is there only while something is being published."""

COMMIT = "commit.json"

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20


def open_port(port: Path) -> int:
    """The open folder of a port.

    Raises:
        UsageError: it cannot be opened.
    """
    try:
        return os.open(port, ROOT_FLAGS)
    except OSError as error:
        raise UsageError(f"{port} is not a directory that can be opened ({error.strerror}). Name a port's.") from error


def copy_in(source: Path | bytes, name: str, box: int) -> str:
    """Copy a file, or bytes, into the journal's folder, down to the disk; its SHA-256."""
    hasher = hashlib.sha256()
    if isinstance(source, bytes):
        chunks: Iterable[bytes] = (source,)
        executable = False
    else:
        reader = os.open(source, READ)
        executable = bool(os.fstat(reader).st_mode & stat.S_IXUSR)
        chunks = chunks_of(reader)
    writer = os.open(name, NEW, 0o777 if executable else 0o666, dir_fd=box)
    try:
        for chunk in chunks:
            hasher.update(chunk)
            view = memoryview(chunk)
            while view:
                view = view[os.write(writer, view) :]
        os.fsync(writer)
    finally:
        os.close(writer)
    return hasher.hexdigest()


def chunks_of(reader: int) -> Iterator[bytes]:
    """The content of an open file, which is closed at its end."""
    try:
        while chunk := os.read(reader, _CHUNK):
            yield chunk
    finally:
        os.close(reader)


def demand_place(root: int, path: str) -> None:
    """Refuse, before anything is committed, what could not be put in place after it."""
    *folders, name = path.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            try:
                below = os.open(folder, FOLDER_FLAGS, dir_fd=here)
            except FileNotFoundError:
                return
            except OSError as error:
                raise UsageError(
                    f"{path} cannot be published: {folder} is a link or no folder. Move it away."
                ) from error
            os.close(here)
            here = below
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                raise UsageError(f"{path} cannot be published: a folder is there. Move it away.")
    finally:
        os.close(here)


def put(root: int, box: int, write: Mapping[str, str]) -> None:
    """Rename a staged file to where it belongs, or see that this was done before.

    Raises:
        UsageError: neither the staged file nor the one it becomes is there.
    """
    *folders, name = write["path"].split("/")
    parent = _made(root, folders)
    try:
        try:
            os.rename(write["staged"], name, src_dir_fd=box, dst_dir_fd=parent)
        except FileNotFoundError as error:
            if digest_of(name, parent) != write["sha256"]:  # else it was put there before
                raise damaged(f"the new {write['path']} is gone") from error
        os.fsync(parent)
    finally:
        os.close(parent)


def _made(root: int, folders: Iterable[str]) -> int:
    here = os.dup(root)
    for folder in folders:
        try:
            with suppress(FileExistsError):
                os.mkdir(folder, dir_fd=here)
                os.fsync(here)
            below = os.open(folder, FOLDER_FLAGS, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def remove(root: int, path: str) -> None:
    """Take a file away, and the folders that are empty without it."""
    *folders, name = path.split("/")
    opened = [os.dup(root)]
    try:
        for folder in folders:
            opened.append(os.open(folder, FOLDER_FLAGS, dir_fd=opened[-1]))
        os.unlink(name, dir_fd=opened[-1])
        os.fsync(opened[-1])
        for depth in range(len(folders), 0, -1):
            os.rmdir(folders[depth - 1], dir_fd=opened[depth - 1])
    except (FileNotFoundError, NotADirectoryError):
        return  # it was taken away before
    except OSError:
        if exists(name, opened[-1]):
            raise
        return  # a folder that still holds something
    finally:
        for descriptor in opened:
            os.close(descriptor)


def exists(name: str, folder: int) -> bool:
    """Whether a name stands in an open folder, whatever it is."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def discard(root: int) -> None:
    """Take the journal away; the commit last of all, since without it what was staged would count for nothing."""
    box = os.open(FOLDER, FOLDER_FLAGS, dir_fd=root)
    try:
        for name in sorted(os.listdir(box), key=lambda name: name == COMMIT):  # noqa: PTH208 - of a descriptor
            os.unlink(name, dir_fd=box)
        os.fsync(box)
    finally:
        os.close(box)
    os.rmdir(FOLDER, dir_fd=root)
    os.fsync(root)


def digest_of(name: str, folder: int) -> str | None:
    """The SHA-256 of a file in an open folder; None where there is none."""
    try:
        descriptor = os.open(name, READ, dir_fd=folder)
    except OSError:
        return None
    hasher = hashlib.sha256()
    for chunk in chunks_of(descriptor):
        hasher.update(chunk)
    return hasher.hexdigest()


def damaged(why: str) -> UsageError:
    """What is said of a journal that no run of calaudit leaves behind."""
    return UsageError(
        f"The port's journal {FOLDER}/ is damaged: {why}. Look at it; if it did not come from an interrupted run "
        "of yours, remove it, and compare the port with a copy that you trust."
    )
