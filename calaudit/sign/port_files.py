"""The envelopes in a port, read and written by whoever signs.

What was audited is what is read: a file whose digest the audit knows is refused when it has another one now.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from calaudit.errors import Malformed, UsageError
from calaudit.files import write_atomic
from calaudit.model import PORT, Report
from calaudit.trust.envelope import SIZE_MAX, Envelope, parse_bundle, parse_envelope

__all__ = ["artifacts_of", "envelope_at", "read_audited", "remove", "slot", "write"]

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def artifacts_of(report: Report) -> dict[str, str]:
    """The digests of all files that the audit read."""
    return {artifact.path: artifact.sha256 for gate in report.gates for artifact in gate.artifacts}


def read_audited(port: Path, path: str, report: Report) -> bytes:
    """A file as the audit read it.

    Raises:
        UsageError: the audit did not read it, or it changed since.
    """
    wanted = artifacts_of(report).get(path)
    data = _read(port, path)
    if wanted is None or data is None or hashlib.sha256(data).hexdigest() != wanted:
        raise UsageError(f"{path} changed while this ran, or is no regular file. Try again.")
    return data


def envelope_at(port: Path, path: str) -> Envelope | None:
    """The envelope or bundle in a file; None where there is no file.

    Raises:
        UsageError: the file is neither.
    """
    data = _read(port, path)
    if data is None:
        return None
    try:
        return parse_bundle(path, data) if path.endswith(".sigstore.json") else parse_envelope(path, data)
    except Malformed as error:
        raise UsageError(f"{path} is no envelope ({error.message}); remove it, or restore the right one.") from error


def slot(port: Path, gate: str, role: str) -> tuple[Envelope, ...]:
    """What lies in the slot of a gate and role: one envelope, bundles, or both.

    Raises:
        UsageError: a file there is no envelope.
    """
    bundle = re.compile(rf"{re.escape(gate)}\.{re.escape(role)}\.[1-9][0-9]*\.sigstore\.json")
    names = [f"{gate}.{role}.dsse.json", *sorted(name for name in _names(port) if bundle.fullmatch(name))]
    found = (envelope_at(port, f"signoffs/{name}") for name in names)
    return tuple(envelope for envelope in found if envelope is not None)


def write(port: Path, path: str, data: bytes) -> None:
    """Write an envelope.

    Raises:
        UsageError: it cannot be written, or its folder is a link.
    """
    target = port / path
    try:
        target.parent.mkdir(exist_ok=True)
        if target.parent.is_symlink():
            raise UsageError(f"{target.parent} is a link; a port holds its own files.")
        write_atomic(target, data)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}.") from error


def remove(port: Path, path: str) -> None:
    """Remove an envelope that no longer says what is there.

    Raises:
        UsageError: it cannot be removed.
    """
    try:
        (port / path).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{port / path} cannot be removed: {error.strerror}.") from error


def attestations(report: Report) -> Iterator[str]:
    """The paths of the attestations in a port."""
    for gate in report.gates:
        if gate.gate == PORT:
            yield from (a.path for a in gate.artifacts if a.path.startswith("attestations/"))


def _names(port: Path) -> list[str]:
    try:
        return [entry.name for entry in (port / "signoffs").iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{port / 'signoffs'} cannot be read: {error.strerror}.") from error


def _read(port: Path, path: str) -> bytes | None:
    try:
        with os.fdopen(os.open(port / path, _FLAGS), "rb") as file:
            return file.read(SIZE_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{port / path} cannot be read: {error.strerror}.") from error
