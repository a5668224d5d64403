"""Writing files so that a reader sees the old bytes or the new ones, never a part of them."""

import errno
import os
import secrets
import stat
from pathlib import Path

__all__ = ["is_stream", "write_atomic", "write_output"]


def is_stream(path: Path) -> bool:
    """Whether something stands there, and is no regular file (a link counts as what it leads to): a device, a pipe."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def write_output(path: Path, data: bytes) -> None:
    """Write where a user wants it: a file is replaced at once; a device or a pipe stays, and is written into.

    Raises:
        OSError: it cannot be written.
    """
    if is_stream(path):
        path.write_bytes(data)
    else:
        write_atomic(path.resolve(), data)  # a link stays, too


def write_atomic(path: Path, data: bytes, *, mode: int = 0o666, replace: bool = True) -> None:
    """Replace ``path`` by ``data``: a temporary file in the same directory, fsync, rename, fsync of the directory.

    The mode is what the umask leaves of ``mode``. With ``replace`` false an existing file is never touched. The
    temporary file is removed when anything fails.

    Raises:
        FileExistsError: ``path`` exists and ``replace`` is false.
        OSError: ``path`` is a device, a pipe or a folder, its directory does not exist or cannot be written, or the
            disk is full.
    """
    if replace and is_stream(path):
        raise OSError(errno.EINVAL, "It is no regular file", str(path))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            path.hardlink_to(temporary)  # unlike a rename it fails where something stands already
            temporary.unlink()
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
