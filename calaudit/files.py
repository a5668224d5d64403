"""Writing files so that a reader sees the old bytes or the new ones, never a part of them."""

import os
import secrets
from pathlib import Path

__all__ = ["write_atomic"]


def write_atomic(path: Path, data: bytes, *, mode: int = 0o666, replace: bool = True) -> None:
    """Replace ``path`` by ``data``: a temporary file in the same directory, fsync, rename, fsync of the directory.

    The mode is what the umask leaves of ``mode``. With ``replace`` false an existing file is never touched. The
    temporary file is removed when anything fails.

    Raises:
        FileExistsError: ``path`` exists and ``replace`` is false.
        OSError: the directory does not exist or cannot be written, or the disk is full.
    """
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
