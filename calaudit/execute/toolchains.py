"""Toolchains: environments outside the port, digested; bound where they are, so that absolute paths in them hold.

The digest covers, by path relative to its folder, each file's SHA-256 and each link's target: links are not followed.
A link that leads out of the folders must lead into the system (``/usr``, ``/bin``, ``/lib…``, ``/etc``), else what it
means is not covered, and the toolchain is refused; name that folder too. ``__pycache__`` is left out, since
interpreters change it: every step runs with ``PYTHONPYCACHEPREFIX``, so it is not read either.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from calaudit.errors import UsageError
from calaudit.evidence.digest import digest_all
from calaudit.evidence.found import Found
from calaudit.evidence.reread import ROOT_FLAGS
from calaudit.evidence.walk import Walk, walk
from calaudit.execute.nouns import Toolchain
from calaudit.execute.toolchain_names import Named, config_file
from calaudit.files import write_atomic
from calaudit.model import Problem

__all__ = ["resolve"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/proc", "/dev")
_CACHES = "__pycache__"
_HARMLESS = frozenset({"symlink", "hard-link", "control-character"})
_DISTRIBUTION = re.compile(r"(?:.*/)?(?P<name>[A-Za-z0-9._]+)-(?P<version>[^-/]+)\.dist-info/METADATA")


def resolve(name: str, named: Named, *, port: Path, cache: Path | None = None) -> Toolchain:
    """Digest a toolchain.

    ``cache`` is a folder of the user's where a digest is kept for as long as no file's size, times or inode changes.

    Raises:
        UsageError: nobody named it, it lies in the port, or it cannot be digested.
    """
    if name not in named:
        raise UsageError(
            f"Nobody says where the toolchain {name} is. Say --toolchain {name}=DIR, or name it in {config_file()}."
        )
    folders = tuple(_folder(name, folder, port) for folder in named[name])
    fingerprint, digest, versions = hashlib.sha256(), hashlib.sha256(), dict[str, str]()
    walks = [_walked(folder) for folder in folders]
    for seen in walks:
        fingerprint.update(repr(sorted(seen.files)).encode("utf-8", "surrogateescape"))
        versions.update(_versions(seen.files))
    links = [sorted(_links(folder, seen, folders)) for folder, seen in zip(folders, walks, strict=True)]
    fingerprint.update(repr((folders, links)).encode("utf-8", "surrogateescape"))
    known = None if cache is None else _recall(cache / f"{name}.json", fingerprint.hexdigest())
    if known is None:
        for number, (folder, seen) in enumerate(zip(folders, walks, strict=True)):
            lines = [*_files(folder, seen), *(f"link {target} {path}" for path, target in links[number])]
            digest.update(f"folder {number}\n".encode())
            digest.update("".join(f"{line}\n" for line in sorted(lines)).encode("utf-8", "surrogateescape"))
        known = digest.hexdigest()
        if cache is not None:
            _remember(cache / f"{name}.json", fingerprint.hexdigest(), known)
    programs = tuple(folder / "bin" if (folder / "bin").is_dir() else folder for folder in folders)
    return Toolchain(
        name=name, folders=folders, programs=programs, digest=known, versions=dict(sorted(versions.items()))
    )


def _folder(name: str, folder: Path, port: Path) -> Path:
    full = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow links
    if not full.is_dir():
        raise UsageError(f"The toolchain {name}: {full} is no folder. Say where it is: --toolchain {name}=DIR.")
    real, inside = Path(os.path.realpath(full)), Path(os.path.realpath(port))
    if real == inside or inside in real.parents or real in inside.parents:
        raise UsageError(
            f"The toolchain {name}: {full} and the port {port} lie in each other. Keep toolchains outside of ports."
        )
    return full


def _walked(folder: Path) -> Walk:
    descriptor = os.open(folder, ROOT_FLAGS)
    try:
        seen = walk(descriptor)
    finally:
        os.close(descriptor)
    bad = next((p for p in seen.problems if p.rule not in _HARMLESS), None)
    if bad is not None:
        raise UsageError(f"The toolchain cannot be digested: {folder / bad.location.path}: {bad.message}")
    return Walk(files=[f for f in seen.files if _CACHES not in f.path.split("/")], problems=seen.problems)


def _links(folder: Path, seen: Walk, folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Path and target of each link."""
    roots = (*map(str, folders), *map(os.path.realpath, folders), *_SYSTEM)
    for problem in seen.problems:
        if problem.rule != "symlink":
            continue
        path = problem.location.path
        target = os.readlink(folder / path)  # noqa: PTH115 - text as it is
        leads = os.path.normpath(os.path.join((folder / path).parent, target))  # noqa: PTH118 - lexically
        if not any(leads == root or leads.startswith(f"{root}/") for root in roots):
            raise UsageError(
                f"{folder / path} leads to {leads}, outside the toolchain, so its digest would not cover that. Name "
                "the folder that holds it too: --toolchain NAME=DIR:DIR."
            )
        yield path, target


def _files(folder: Path, seen: Walk) -> Iterator[str]:
    descriptor = os.open(folder, ROOT_FLAGS)
    try:
        results = digest_all(descriptor, seen.files, threads=len(os.sched_getaffinity(0)))
    finally:
        os.close(descriptor)
    for path, result in results.items():
        if isinstance(result, Problem):
            raise UsageError(f"The toolchain cannot be digested: {folder / path}: {result.message}")
        yield f"file {result.sha256} {path}"


def _versions(files: Sequence[Found]) -> Iterator[tuple[str, str]]:
    for found in files:
        match = _DISTRIBUTION.fullmatch(found.path) if found.path.endswith(".dist-info/METADATA") else None
        if match is not None:
            yield match["name"], match["version"]


def _recall(path: Path, fingerprint: str) -> str | None:
    try:
        known = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return None  # it is digested anew
    found = known.get(fingerprint) if isinstance(known, dict) else None
    return found if isinstance(found, str) else None


def _remember(path: Path, fingerprint: str, digest: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomic(path, orjson.dumps({fingerprint: digest}), mode=0o600)
