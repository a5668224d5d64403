"""Check that a model is valid ONNX: calaudit's own look first, then ``onnx.checker`` in a child process.

Our own look finds what the checker accepts: external data out of range, shorter than its shape, overlapping or with a
wrong checksum. The checker is native code that reads what it is told to, so it only sees models that passed, in a
process of its own with a time limit: if it crashes or hangs, the model is not valid and the harness still stands.
"""

import hashlib
import json
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from calaudit.errors import Malformed
from calaudit.facts.onnx.extents import Extent, ExternalTensor, check_external_data
from calaudit.facts.onnx.proto import parse_model
from calaudit.facts.onnx.structure import structural_problems, undeclared_domains
from calaudit.facts.onnx.weights import external_tensor, storage_problem, stored_tensors
from calaudit.model import Json

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["TIMEOUT_S", "CheckResult", "check_model"]

TIMEOUT_S = 300.0

_CHILD = """
import json, sys
import onnx
try:
    onnx.checker.check_model(sys.argv[1], full_check=True)
    problem = None
except Exception as error:
    problem = " ".join(f"{type(error).__name__}: {error}".split())
print(json.dumps({"version": onnx.__version__, "problem": problem}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What the checks said: every problem as a sentence, and the version of onnx if it was asked."""

    sha256: str
    version: str | None
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything was checked and nothing is wrong."""
        return self.version is not None and not self.problems

    def document(self) -> dict[str, Json]:
        """As it stands in ``onnx-report.json``."""
        return {"ok": self.ok, "full_check": True, "version": self.version or "not run"}


def check_model(path: Path, *, timeout_s: float = TIMEOUT_S) -> CheckResult:
    """Check a model file and its external data; the full check of ``onnx.checker`` infers shapes too.

    Raises:
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        own = tuple(own_problems(parse_model(data), path.parent))
    except Malformed as error:
        own = (f"{path.name}: {error.message}",)
    if own:
        return CheckResult(sha256=sha256, version=None, problems=own)
    version, problem = _ask_checker(path, timeout_s)
    return CheckResult(sha256=sha256, version=version, problems=() if problem is None else (problem,))


def own_problems(model: "ModelProto", folder: Path) -> Iterator[str]:
    """What is wrong with structure, stored values and external data, one sentence each."""
    yield from structural_problems(model)
    for domain, where, count in undeclared_domains(model):
        yield f"{count} node(s) of {where} use the domain {domain!r}, which the model does not import."
    stored = list(stored_tensors(model))
    for tensor in stored:
        problem = storage_problem(tensor.proto)
        if problem is not None:
            yield f"The {tensor.title} {problem}."
    external = [external_tensor(tensor) for tensor in stored if tensor.external]
    found = check_external_data(external, _sizes(folder, external), "")
    yield from (fault.message for fault in found.faults)
    if not found.faults:
        yield from _checksums(folder, found.extents)


def _sizes(folder: Path, tensors: Iterable[ExternalTensor]) -> dict[str, int]:
    """The bytes of the regular files, reached without a link, that tensors name as their location."""
    sizes = {}
    for location in {dict(tensor.entries).get("location", "") for tensor in tensors}:
        path = folder / location
        if ".." in path.parts or not path.is_relative_to(folder):
            continue
        try:
            linked = any(p.is_symlink() for p in (path, *path.parents) if p != folder and p.is_relative_to(folder))
            found = path.lstat()
        except (OSError, ValueError):  # absent, or no name that a file can have: the location has no bytes
            continue
        if stat.S_ISREG(found.st_mode) and not linked:
            sizes[location] = found.st_size
    return sizes


def _checksums(folder: Path, extents: Iterable[Extent]) -> Iterator[str]:
    # As onnx defines it: the SHA-1 of the whole file that a tensor points into.
    digests: dict[str, str] = {}
    for extent in extents:
        if extent.checksum is None:
            continue
        if extent.path not in digests:
            with (folder / extent.path).open("rb") as file:
                digests[extent.path] = hashlib.file_digest(file, "sha1").hexdigest()
        if digests[extent.path] != extent.checksum:
            yield f"The checksum of tensor {extent.tensor!r} is not that of {extent.path}."


def _ask_checker(path: Path, timeout_s: float) -> tuple[str | None, str | None]:
    """The version of onnx that answered, and its complaint; no version when it gave no answer."""
    command = [sys.executable, "-I", "-c", _CHILD, str(path.resolve())]
    try:
        child = subprocess.run(command, capture_output=True, check=False, timeout=timeout_s)  # noqa: S603 - our own text
    except subprocess.TimeoutExpired:
        return None, f"The ONNX checker did not finish {path.name} in {timeout_s:g} s."
    if child.returncode != 0:
        last = child.stderr.decode(errors="backslashreplace").strip().rpartition("\n")[2]
        return None, f"The ONNX checker died on {path.name} with status {child.returncode}: {last}"
    try:
        said = json.loads(child.stdout)
        version, complaint = str(said["version"]), said["problem"]
    except (ValueError, TypeError, KeyError):
        return None, f"The ONNX checker gave no answer about {path.name}: {child.stdout[:200]!r}"
    return version, None if complaint is None else f"The ONNX checker refuses {path.name}: {complaint}"
