"""Vetting one document against one policy with the real ``cue``."""

import json
import math
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from calaudit.cue import process
from calaudit.cue.output import Fault, complaints, faults, places_first
from calaudit.cue.probes import probes, supplied
from calaudit.cue.process import Limits, Outcome, Program
from calaudit.errors import ContractError, UsageError
from calaudit.model import Json

_POLICY = "policy.cue"
_DOCUMENT = "document.json"
_MODULE = ("cue.mod/module.cue", b'module: "calaudit.invalid/policy@v0"\nlanguage: version: "v0.12.0"\n')
"""The folder is a module of its own with no dependencies: else cue would look for one in the folders above it."""
_LARGEST_POLICY = 1 << 20
_ATTRIBUTE = re.compile(r"@[\w$#]+(?:\s|//[^\n]*)*\(")
_SPECIAL = ("_tool.cue", "_test.cue")


@dataclass(frozen=True, slots=True)
class Cue:
    """The ``cue`` program: where it was found, its version, and the SHA-256 of the bytes that are executed."""

    path: Path
    version: str
    sha256: str

    def vet(self, name: str, policy: bytes, document: bytes) -> tuple[Fault, ...]:
        """Every way in which a JSON document does not satisfy a CUE policy; empty when it does.

        The document satisfies the policy when ``cue vet -c`` accepts it, the policy adds no member to it, and the
        policy would refuse a document unlike it: else nothing was checked, and that is a fault. So is a run that
        crashed, ran too long or printed too much. ``name`` is how messages call the policy.

        Raises:
            ContractError: the policy does not compile, or uses what policies may not (attributes, imports of files).
            UsageError: the program at ``path`` is not the one that was found.
        """
        _admit(name, policy)
        try:
            value: Json = json.loads(document, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError) as error:
            return (Fault(f"The document is not JSON, so {name} cannot be applied: {error}", None, None),)
        if not isinstance(value, dict):
            return (Fault(f"The document is no JSON object, so {name} cannot be applied.", "", None),)
        with self._open(name) as run:
            run.write(*_MODULE)
            run.write(_POLICY, policy)
            if (fault := run.compiles()) is not None:
                return (fault,)
            found = run.faults(document, value)
            return found or tuple(run.idle(document, value))

    @contextmanager
    def _open(self, name: str) -> Iterator["_Run"]:
        with process.sealed(self.path) as program, tempfile.TemporaryDirectory(prefix="calaudit-cue-") as folder:
            if program.sha256 != self.sha256:
                raise UsageError(
                    f"{self.path} changed while it was in use: expected sha256 {self.sha256}, found {program.sha256}."
                )
            yield _Run(program, Path(folder), name)


@dataclass(frozen=True, slots=True)
class _Run:
    """The calls that judge one document, in one private folder."""

    program: Program
    folder: Path
    name: str

    def write(self, file: str, data: bytes) -> None:
        path = self.folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)

    def call(self, *arguments: str, limits: Limits = process.DEFAULT) -> Outcome:
        descriptor = self.program.descriptor
        executable = f"/proc/self/fd/{descriptor}"
        return process.run(executable, arguments, folder=self.folder, keep=(descriptor,), limits=limits)

    def judge(self, document: bytes, *options: str) -> Outcome:
        """``cue vet -c``; ``json+data:`` keeps cue from taking a document with ``$schema`` for a schema."""
        self.write(_DOCUMENT, document)
        return self.call("vet", "-c", *options, _POLICY, "json+data:", _DOCUMENT)

    def compiles(self) -> Fault | None:
        """Whether the policy holds together by itself; a fault when that could not be told."""
        outcome = self.call("vet", "-c=false", "--all-errors", _POLICY)
        if outcome.trouble is not None:
            return self.untold(outcome.trouble)
        if outcome.code:
            printed = (outcome.stderr + outcome.stdout).replace(f"{self.folder}/{_POLICY}".encode(), self.name.encode())
            said = places_first(tuple(complaints(printed)), file=_POLICY, name=self.name)
            raise ContractError(f"The CUE policy does not compile.\n{said or self.name}")
        return None

    def faults(self, document: bytes, value: Json) -> tuple[Fault, ...]:
        """What is wrong with the document."""
        outcome = self.judge(document, "--all-errors")
        if outcome.trouble is not None:
            return (self.untold(outcome.trouble),)
        printed = outcome.stderr + outcome.stdout
        found = faults(printed, value, files=(_POLICY, _DOCUMENT), name=self.name)
        if outcome.code and not found:
            return (self.untold(f"cue ended with {outcome.code} and gave no reason."),)
        return found

    def idle(self, document: bytes, value: dict[str, Json]) -> Iterator[Fault]:
        """What the policy says that met nothing in the document that it accepted."""
        room = Limits(output=process.DEFAULT.output + 32 * len(document))
        outcome = self.call("export", "--out", "json", _POLICY, "json+data:", _DOCUMENT, limits=room)
        if outcome.trouble is not None or outcome.code:
            yield self.untold(outcome.trouble or f"cue export ended with {outcome.code} after cue vet had passed.")
            return
        try:
            unified: Json = json.loads(outcome.stdout)
        except (ValueError, RecursionError) as error:
            yield self.untold(f"cue export printed no JSON: {error}")
            return
        brought = tuple(supplied(value, unified))
        for pointer in brought:
            yield Fault(
                f"The document has no {pointer}: {self.name} supplies it itself, so nothing was compared. Demand the "
                "member with `!`, allow it with `?`, or hide a helper behind `_`.",
                pointer.rpartition("/")[0],
                None,
            )
        if brought:
            return
        for probe in probes(value):
            outcome = self.judge(json.dumps(probe).encode())
            if outcome.trouble is not None:
                yield self.untold(outcome.trouble)
                return
            if outcome.code:
                return
        yield Fault(f"Nothing was checked: {self.name} accepts every document. Say what a field must be.", None, None)

    def untold(self, why: str) -> Fault:
        return Fault(f"Whether the document satisfies {self.name} could not be told: {why}", None, None)


def _finite(text: str) -> float:
    """A number of the document; one that Python cannot hold would make every probe a document that is no JSON."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"found the number {text}, which is not finite")
    return number


def _admit(name: str, policy: bytes) -> None:
    """Refuse what would make cue read other files, or leave the policy out.

    Raises:
        ContractError: with the line.
    """
    if name.endswith(_SPECIAL):
        raise ContractError(
            f"{name}: a policy's name must not end in {' or '.join(_SPECIAL)}: cue vet leaves such files out."
        )
    if len(policy) > _LARGEST_POLICY:
        raise ContractError(f"{name}: a policy holds at most {_LARGEST_POLICY} bytes, found {len(policy)}.")
    try:
        text = policy.decode()
    except UnicodeDecodeError as error:
        raise ContractError(f"{name} is not UTF-8: {error}") from error
    if attribute := _ATTRIBUTE.search(text):
        line = text.count("\n", 0, attribute.start()) + 1
        raise ContractError(
            f"{name}:{line}: found `{attribute[0]}`. A policy may not use attributes: they take values from outside it "
            "or leave the file out. (In a pattern, write `[@]` for the character.)"
        )
