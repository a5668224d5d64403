"""Ports that are signed for real, once in a run, and copies of them for forgers.

``full`` is the good port through G2. ``g0`` claims G0 alone, which is judged in a twentieth of a second. In ``waived``
G0 fails one rule, and a waiver that everybody signed covers it. All three verify PASSED.
"""

import copy
import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import calaudit.trust
from calaudit import Report, audit
from calaudit.contract import Contract
from calaudit.model import GateReport
from calaudit.trust.source import Seen, TrustSource
from tests import memo
from tests.trust import authority as kit
from tests.trust.authority import NOW, PORT_ID, Authority

GOOD = Path(__file__).parents[2] / "examples" / "model-port" / "tiny-dense"
KINDS = ("g0", "waived", "full")
MANIFEST = "00-source/source-manifest.json"
WAIVED = "model-id-mismatch"
"""The rule that fails in ``waived``, on the manifest."""

WAIVER = "waivers/w-1.dsse.json"
G0 = "signoffs/G0.model.dsse.json"
PORT_SIGNOFF = "signoffs/port.compiler.dsse.json"
WAIVER_SIGNERS = ("model", "release", "release-2")


@dataclass
class SignedPort:
    """A copy of a signed port, and everything a forger may turn: ``report`` is of the port before it was signed."""

    path: Path
    contract: Contract
    report: Report
    seen: Seen | None
    authority: Authority
    at: datetime = NOW
    source: TrustSource | None = None
    trusts: bool = True
    not_installed: tuple[str, ...] = ()

    def audit(self) -> Report:
        """Judge the copy by its authority's root, or by what replaces it."""
        source = (self.source or self.authority.source(seen=self.seen)) if self.trusts else None
        with _without(self.not_installed), memo.remembered():
            return audit(self.path, contract=self.contract, trust=source, at=self.at)

    def gate(self, name: str) -> GateReport:
        return next(gate for gate in self.report.gates if gate.gate == name)

    def file(self, path: str) -> Path:
        found = self.path / path
        found.parent.mkdir(parents=True, exist_ok=True)
        return found

    def digest(self, path: str) -> str:
        return hashlib.sha256((self.path / path).read_bytes()).hexdigest()

    # What is signed --------------------------------------------------------------------------------------------------

    def statement(self, path: str = G0) -> dict[str, Any]:
        """The statement in a signed file."""
        document: dict[str, Any] = json.loads(kit.payload(self.path / path))
        return document

    def sign(self, path: str, document: Mapping[str, Any], *seeds: str) -> None:
        """Write a signed file."""
        kit.write(self.file(path), document, seeds)

    def resign(self, path: str, change: Callable[[dict[str, Any]], object], *seeds: str) -> None:
        """Change a statement in place, and sign it again by those whose seeds are given."""
        document = self.statement(path)
        change(document)
        self.sign(path, document, *seeds)

    def signoff(self, slot: str, *seeds: str, **changes: Any) -> None:
        """Sign a slot (``G0.model``) as it should be signed, but for ``changes`` of the predicate."""
        gate, _, role = slot.partition(".")
        document = self.authority.signoff(self.gate(gate), role, self.report, self.path, self.contract)
        document["predicate"].update(changes)
        self.sign(f"signoffs/{slot}.dsse.json", document, *(seeds or (role,)))

    def waive(
        self, *seeds: str, path: str = MANIFEST, gate: str = "G0", rule: str = WAIVED, of: str = PORT_ID, **changes: Any
    ) -> None:
        """Sign a waiver of this or another port."""
        digest = self.digest(path) if (self.path / path).is_file() else "00" * 32
        document = self.authority.waiver(gate, rule, path, digest, **changes)
        document["predicate"]["port"] = of
        self.sign(f"waivers/{document['predicate']['id']}.dsse.json", document, *(seeds or WAIVER_SIGNERS))

    def attest(self, *seeds: str, name: str = "", step: str = "fetch", number: int = 1, **changes: Any) -> str:
        """Sign provenance of a run that read the manifest and wrote the model's configuration; its path."""
        document = self.run(step, **changes)
        seed = (seeds or ("model-functionary",))[0]
        name = name or f"{step}.{kit.key(seed).public_key.keyid[:8]}.{number}.dsse.json"
        self.sign(f"attestations/{name}", document, *(seeds or ("model-functionary",)))
        return f"attestations/{name}"

    def run(
        self, step: str = "fetch", *, gate: str = "G0", invocation: str = "run-1", **changes: Any
    ) -> dict[str, Any]:
        """The statement of such a run; ``changes`` are of its external parameters."""
        read, wrote = MANIFEST, "00-source/hf-config/config.json"
        return self.authority.provenance(
            step, gate, invocation, {wrote: self.digest(wrote)}, {read: self.digest(read)}, **changes
        )

    # Envelopes as text -----------------------------------------------------------------------------------------------

    def envelope(self, path: str = G0) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.path / path).read_bytes())
        return document

    def write(self, path: str, document: object) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        self.file(path).write_bytes(text.encode())

    def sign_bytes(self, payload: bytes, *seeds: str, path: str = G0) -> None:
        """Sign bytes that may be no statement."""
        self.file(path).write_bytes(kit.sign_payload(payload, [kit.key(seed) for seed in seeds or ("model",)]))

    # Registries ------------------------------------------------------------------------------------------------------

    def registry(self, **changes: Any) -> Authority:
        """A successor of the registry, signed by the root; its members may be changed further."""
        self.authority = replace(self.authority, **{"version": 2, **changes})
        return self.authority


@dataclass(frozen=True)
class _Template:
    """A signed port on disk, removed at the end of the process."""

    folder: TemporaryDirectory[str]
    authority: Authority
    report: Report

    @property
    def path(self) -> Path:
        return Path(self.folder.name) / "tiny-dense"


@contextmanager
def _without(modules: Sequence[str]) -> Iterator[None]:
    """Let an import fail, and that of the one module of calaudit which needs it be tried again."""
    with pytest.MonkeyPatch.context() as patch:
        if modules:
            patch.delattr(calaudit.trust, "keyless_library", raising=False)
            patch.delitem(sys.modules, "calaudit.trust.keyless_library", raising=False)
        for name in modules:
            patch.setitem(sys.modules, name, None)
        yield


_TEMPLATES: dict[tuple[str, str], _Template] = {}


def _template(kind: str, contract: Contract) -> _Template:
    """The signed port of a kind, made once in a process."""
    key = (kind, contract.digest)
    if key not in _TEMPLATES:
        _TEMPLATES[key] = _make(kind, contract)
    return _TEMPLATES[key]


def _make(kind: str, contract: Contract) -> _Template:
    folder, authority = TemporaryDirectory(prefix=f"calaudit-{kind}-"), Authority()
    path = Path(folder.name) / "tiny-dense"
    shutil.copytree(GOOD, path, copy_function=shutil.copyfile, ignore=_left_out(kind))
    if kind != "full":
        _replace(path / "port.yaml", "claim: G2", "claim: G0")
    if kind == "waived":
        _replace(path / MANIFEST, "tiny-dense@d", "tiny-dense@e")
    report = audit(path, contract=contract, trust=authority.source(), at=NOW)
    authority.sign_port(path, report, contract, through=("G0", "G1", "G2") if kind == "full" else ("G0",))
    if kind == "waived":
        made = SignedPort(path, contract, report, None, authority)
        made.waive()
        made.signoff("G0.model", waivers=kit.named({WAIVER: kit.payload_digest(path / WAIVER)}))
    return _Template(folder, authority, report)


def _left_out(kind: str) -> Callable[[str, list[str]], Sequence[str]]:
    folders = ["signoffs", "waivers", "attestations"] + ([] if kind == "full" else ["01-reference", "02-onnx"])
    return lambda folder, names: [name for name in names if Path(folder) == GOOD and name in folders]


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{path} does not contain {old!r} once"
    path.write_text(text.replace(old, new), "utf-8")


def signed_copy(kind: str, target: Path, contract: Contract) -> SignedPort:
    """A copy of a signed port at ``target``, which must not exist."""
    template = _template(kind, contract)
    shutil.copytree(template.path, target, copy_function=shutil.copyfile)
    authority = copy.deepcopy(template.authority)
    return SignedPort(target, contract, template.report, authority.seen(), authority)
