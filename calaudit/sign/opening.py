"""Reading a trust directory as its keepers do: its chain of roots holds, and what waits is metadata."""

import re
from pathlib import Path
from typing import TypeVar

from tuf.api.metadata import Metadata, Root, Targets

from calaudit.errors import Malformed, UsageError
from calaudit.pins.directory import REGISTRY, ROOT_NAME, SIGSTORE_ROOT, inside_port, read_file
from calaudit.sign.folder import PENDING, Folder
from calaudit.sign.standing import root_standing
from calaudit.trust.tuf_file import read_metadata

__all__ = ["open_folder"]

S = TypeVar("S", Root, Targets)


def open_folder(path: Path, *, new: bool = False) -> Folder:
    """Read a trust directory and hold its chain of roots together.

    Raises:
        UsageError: it lies in a port, holds no root, or what it holds was not signed as it has to be.
    """
    port = inside_port(path)
    if port is not None:
        raise UsageError(f"{path} lies inside the port {port}: what a port is judged by stands outside of it.")
    names = _names(path)
    if new:
        if names:
            raise UsageError(f"{path} is not empty; a new trust directory begins with none.")
        nothing: dict[str, None] = dict.fromkeys(_OPTIONAL)
        return Folder(path=path, roots=(), **nothing)
    roots = _chain(path, names)
    waiting = _names(path / PENDING)
    pending = sorted(name for name in waiting if ROOT_NAME.fullmatch(name))
    version = roots[-1].signed.version + 1 if roots else 1
    if pending not in ([], [f"{version}.root.json"]):
        raise UsageError(f"{path / PENDING} holds {', '.join(pending)}; the next root is {version}.root.json.")
    if not roots and not pending:
        raise UsageError(f"{path} holds no root (1.root.json). Begin with `calaudit trust init {path}`.")
    return Folder(
        path=path,
        roots=roots,
        registry=_read(path / REGISTRY, Targets) if REGISTRY in names else None,
        next_root=_read(path / PENDING / pending[0], Root) if pending else None,
        next_registry=_read(path / PENDING / REGISTRY, Targets) if REGISTRY in waiting else None,
        sigstore_root=_bytes(path / SIGSTORE_ROOT),
        next_sigstore_root=_bytes(path / PENDING / SIGSTORE_ROOT),
    )


def _chain(path: Path, names: frozenset[str]) -> tuple[Metadata[Root], ...]:
    versions = sorted(int(match[1]) for name in names if (match := ROOT_NAME.fullmatch(name)))
    roots: list[Metadata[Root]] = []
    for version in versions:
        name = path / f"{version}.root.json"
        metadata = _read(name, Root)
        previous = roots[-1].signed if roots else None
        if metadata.signed.version != version or (previous is not None and version != previous.version + 1):
            raise UsageError(f"{name} has version {metadata.signed.version}; roots follow each other without a gap.")
        if not root_standing(metadata, previous).complete:
            raise UsageError(f"{name} is not signed as it has to be; restore the file that was published.")
        roots.append(metadata)
    return tuple(roots)


def _read(path: Path, kind: type[S]) -> Metadata[S]:
    try:
        return read_metadata(read_file(path), kind)
    except Malformed as error:
        raise UsageError(f"{path}: {error.message}") from error


def _bytes(path: Path) -> bytes | None:
    return read_file(path) if path.is_file() else None


def _names(path: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in path.iterdir() if not _IGNORED.fullmatch(entry.name))
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise UsageError(f"{path} is not a directory that can be read: {error.strerror}.") from error


_IGNORED = re.compile(r"\..*|README.*")
"""What may stand in a trust directory besides: a repository's own files."""

_OPTIONAL = ("registry", "next_root", "next_registry", "sigstore_root", "next_sigstore_root")
"""What a new directory lacks."""
