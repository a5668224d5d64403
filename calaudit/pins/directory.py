"""Trust directories, read as they are; what they hold is verified by ``calaudit.trust``."""

import os
import re
import stat
from itertools import pairwise
from pathlib import Path

from calaudit.errors import UsageError
from calaudit.trust.source import SIZE_MAX, TrustSource

__all__ = ["REGISTRY", "ROOT_NAME", "SIGSTORE_ROOT", "inside_port", "load_directory", "read_file"]

ROOT_NAME = re.compile(r"([1-9][0-9]{0,8})\.root\.json")
REGISTRY = "roles.json"
SIGSTORE_ROOT = "sigstore/trusted_root.json"


def load_directory(path: Path) -> TrustSource:
    """What a trust directory holds; its lowest root is the anchor, because the caller chose the directory.

    Raises:
        UsageError: it cannot be read, holds no root, has a gap in its roots, or lies inside a port.
    """
    port = inside_port(path)
    if port is not None:
        raise UsageError(f"The trust directory {path} lies inside the port {port}; a port cannot vouch for itself.")
    try:
        names = [entry.name for entry in path.iterdir()]
    except OSError as error:
        raise UsageError(f"The trust directory {path} cannot be read: {error.strerror}.") from error
    versions = sorted(int(match[1]) for name in names if (match := ROOT_NAME.fullmatch(name)))
    if not versions:
        waiting = " What waits in pending/ lacks signatures (calaudit trust sign)." if "pending" in names else ""
        raise UsageError(f"{path} holds no root (1.root.json); it is no trust directory.{waiting}")
    gap = next((v for v, following in pairwise(versions) if following != v + 1), None)
    if gap is not None:
        raise UsageError(f"{path} lacks {gap + 1}.root.json; each root is vouched for by the one before it.")
    sigstore = path / SIGSTORE_ROOT
    return TrustSource(
        roots=tuple((f"{v}.root.json", read_file(path / f"{v}.root.json")) for v in versions),
        registry=read_file(path / REGISTRY) if REGISTRY in names else None,
        sigstore_root=read_file(sigstore) if sigstore.is_file() else None,
        seen=None,
        origin=str(path),
    )


def inside_port(path: Path) -> Path | None:
    """The port that a path lies in; None if it lies in none."""
    full = Path(os.path.realpath(path))
    return next((folder for folder in (full, *full.parents) if (folder / "port.yaml").is_file()), None)


def read_file(path: Path, *, private: bool = False) -> bytes:
    """A regular file of modest size; a ``private`` one only while nobody else can write it.

    Raises:
        FileNotFoundError: a ``private`` file is not there.
        UsageError: it cannot be read, is none, is too long, or others can write it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            data = file.read(SIZE_MAX + 1) if stat.S_ISREG(found.st_mode) else b""
    except OSError as error:
        if private and isinstance(error, FileNotFoundError):
            raise
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{path} is not a regular file.")
    if len(data) > SIZE_MAX:
        raise UsageError(f"{path} has more than {SIZE_MAX} bytes; it is no file of a trust directory.")
    if private and (found.st_mode & 0o022 or found.st_uid not in (0, os.geteuid())):
        raise UsageError(f"Others can write {path}, so it proves nothing. Run: chmod 600 {path}, and look at who did.")
    return data
