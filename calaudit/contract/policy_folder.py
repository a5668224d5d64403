"""Reading an organisation's policy directory: flat, regular files of known kinds.

Nothing in it is passed over: a file that nobody reads is a rule that nobody runs, and looks like one that passed.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from calaudit.errors import ContractError

__all__ = ["CUE", "TEST", "YAML", "PolicyFolder", "read_folder"]

YAML, TEST, CUE = ".yaml", ".test.yaml", ".cue"

_LARGEST = 4 << 20
"""Bytes of one file; a policy is written by people."""

_STEM = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class PolicyFolder:
    """The files of one policy directory, by their names; ``path`` is as the caller wrote it."""

    path: Path
    yaml: Mapping[str, bytes]
    tests: Mapping[str, bytes]
    cue: Mapping[str, bytes]

    def where(self, name: str) -> str:
        """What messages call a file."""
        return str(self.path / name)


def read_folder(path: Path) -> PolicyFolder:
    """Read a policy directory; each file once, no link followed inside it.

    Raises:
        ContractError: it cannot be read, holds something that is no policy, or nothing to judge by.
    """
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ContractError(f"The policy directory {path} cannot be read: {error.strerror}.") from error
    try:
        with os.scandir(folder) as listing:
            names = sorted(item.name for item in listing)
        found = {name: (_suffix(path, name), _read(folder, path, name)) for name in names}
    finally:
        os.close(folder)
    kinds = {kind: {name: data for name, (suffix, data) in found.items() if suffix == kind} for kind in _READ}
    _check(path, kinds)
    yaml, tests, cue = (MappingProxyType(kinds[suffix]) for suffix in (YAML, TEST, CUE))
    return PolicyFolder(path, yaml, tests, cue)


_PROSE = ".md"
_READ = (YAML, TEST, CUE, _PROSE)


def _suffix(path: Path, name: str) -> str:
    for suffix in (TEST, YAML, CUE):
        if name.endswith(suffix):
            if _STEM.fullmatch(name.removesuffix(suffix)) is None:
                raise ContractError(f"{path / name}: a policy's file is named in lower-case words joined by hyphens.")
            return suffix
    if name.endswith(_PROSE):
        return _PROSE
    raise ContractError(
        f"{path / name}: a policy directory holds *{YAML}, *{TEST}, *{CUE} and *{_PROSE} files, and nothing is "
        "passed over; move it elsewhere."
    )


def _read(folder: int, path: Path, name: str) -> bytes:
    try:
        # Not waiting: a named pipe opens at once, and is refused.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        link = stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        why = "it is a symbolic link; put the file itself here" if link else f"it cannot be read: {error.strerror}"
        raise ContractError(f"{path / name}: {why}.") from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ContractError(f"{path / name}: it is no regular file; remove it.")
        with os.fdopen(file, "rb", closefd=False) as stream:
            data = stream.read(_LARGEST + 1)
    finally:
        os.close(file)
    if len(data) > _LARGEST:
        raise ContractError(f"{path / name}: it is larger than {_LARGEST} bytes.")
    return data


def _check(path: Path, kinds: Mapping[str, Mapping[str, bytes]]) -> None:
    stems = [*(name.removesuffix(YAML) for name in kinds[YAML]), *(name.removesuffix(CUE) for name in kinds[CUE])]
    if not stems:
        raise ContractError(f"The policy directory {path} holds no policy, so nothing would be judged by it.")
    for name in kinds[TEST]:
        if name.removesuffix(TEST) not in stems:
            raise ContractError(f"{path / name}: there is no policy of this name beside it.")
    for stem in stems:
        if stems.count(stem) > 1:
            raise ContractError(f"{path}: {stem}{YAML} and {stem}{CUE} would share their cases; rename one.")
