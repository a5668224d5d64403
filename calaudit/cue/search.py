"""Finding the ``cue`` program: as an option says, as ``CALAUDIT_CUE`` says, or on PATH."""

import os
import re
import stat
import tempfile
from pathlib import Path

from calaudit.cue import process
from calaudit.cue.engine import Cue
from calaudit.errors import UsageError

_VARIABLE = "CALAUDIT_CUE"
_LANGUAGE = re.compile(r"^cue\.lang\.version v(?P<version>[0-9]+\.[0-9]+\.[0-9]+\S*)$", re.MULTILINE)
_OLDEST = (0, 12)


def find(explicit: Path | None = None, *, port: Path | None = None) -> Cue | None:
    """The ``cue`` program, or None where PATH has none and neither the option nor ``CALAUDIT_CUE`` names one.

    Neither the current directory nor the audited ``port`` is ever searched: what is judged must not bring its judge.

    Raises:
        UsageError: the named program does not exist, cannot be executed, lies in the port, or is no cue of a known
            version.
    """
    if explicit is not None:
        return _identify(_named(explicit, "--cue", port))
    if variable := os.environ.get(_VARIABLE):
        if not Path(variable).is_absolute():
            raise UsageError(f"{_VARIABLE} is {variable!r}, expected an absolute path.")
        return _identify(_named(Path(variable), _VARIABLE, port))
    found = _on_path(port)
    return None if found is None else _identify(found)


def _named(path: Path, by: str, port: Path | None) -> Path:
    if not _executable(path):
        raise UsageError(f"{by} names {path}, which is no file that can be executed. Name the cue program.")
    if port is not None and _inside(path, port):
        raise UsageError(f"{by} names {path}, which lies in the port that is audited. Name a program from elsewhere.")
    return path.absolute()


def _on_path(port: Path | None) -> Path | None:
    here = Path.cwd().resolve()
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        program = folder / "cue"
        if not folder.is_absolute() or folder.resolve() == here or not _executable(program):
            continue
        if port is None or not (_inside(program, port) or folder.resolve().is_relative_to(port.resolve())):
            return program
    return None


def _inside(path: Path, port: Path) -> bool:
    return path.resolve().is_relative_to(port.resolve()) or path.absolute().is_relative_to(port.absolute())


def _executable(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode) and os.access(path, os.X_OK)
    except OSError:  # nothing there, or nothing that may be looked at: no program either way
        return False


def _identify(path: Path) -> Cue:
    """Digest the program and ask it for its version.

    Raises:
        UsageError: it does not answer as cue does, or is older than what this is tested with.
    """
    with process.sealed(path) as program, tempfile.TemporaryDirectory(prefix="calaudit-cue-") as folder:
        executable = f"/proc/self/fd/{program.descriptor}"
        outcome = process.run(executable, ["version"], folder=Path(folder), keep=(program.descriptor,))
    if outcome.trouble is not None or outcome.code:
        raise UsageError(
            f"{path} does not run: {outcome.trouble or f'it ended with {outcome.code}'}. Name the cue program."
        )
    said = _LANGUAGE.search(outcome.stdout.decode("utf-8", "replace"))
    if said is None:
        raise UsageError(f"{path} does not say its version as cue does. Name the cue program.")
    version = said["version"]
    if tuple(map(int, version.split(".")[:2])) < _OLDEST:
        raise UsageError(f"{path} is cue {version}, expected {'.'.join(map(str, _OLDEST))} or newer.")
    return Cue(path, version, program.sha256)
