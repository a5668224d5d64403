"""Ports that are signed for real, once in a run, and copies of them for forgers.

``full`` is the good port through G2. ``g0`` claims G0 alone, which is judged in a twentieth of a second. In ``waived``
G0 fails one rule, and a waiver that everybody signed covers it. All three verify PASSED.
"""

import copy
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calaudit import Report, audit
from calaudit.contract import Contract
from calaudit.model import GateReport
from calaudit.trust.source import Seen, TrustSource
from tests.trust import authority as kit
from tests.trust.authority import NOW, Authority

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
    only_trust: bool = True

    def audit(self) -> Report:
        """Judge the copy by its authority's root, or by what replaces it."""
        source = self.source or self.authority.source(seen=self.seen)
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

    def signoff(self, gate: str, role: str, *seeds: str, at: str = "", **changes: Any) -> None:
        """Sign a slot as it should be signed, but for ``changes`` of the predicate."""
        document = self.authority.signoff(self.gate(gate), role, self.report, self.path, self.contract, **changes)
        self.sign(at or f"signoffs/{gate}.{role}.dsse.json", document, *(seeds or (role,)))

    def waive(self, *seeds: str, path: str = MANIFEST, gate: str = "G0", rule: str = WAIVED, **changes: Any) -> None:
        """Sign a waiver."""
        digest = self.digest(path) if (self.path / path).is_file() else "00" * 32
        document = self.authority.waiver(gate, rule, path, digest, **changes)
        self.sign(f"waivers/{document['predicate']['id']}.dsse.json", document, *(seeds or WAIVER_SIGNERS))

    def attest(self, *seeds: str, name: str = "", step: str = "fetch", number: int = 1, **changes: Any) -> str:
        """Sign provenance of a run that read the manifest and wrote the model's configuration; its path."""
        document = self.run(step, **changes)
        seed = (seeds or ("model-functionary",))[0]
        name = name or f"{step}.{kit.key(seed).public_key.keyid[:8]}.{number}.dsse.json"
        self.sign(f"attestations/{name}", document, *(seeds or ("model-functionary",)))
        return f"attestations/{name}"

    def run(self, step: str = "fetch", *, gate: str = "G0", invocation: str = "run-1", **changes: Any) -> dict[str, Any]:
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


@cache
def _template(kind: str, contract_digest: str) -> "_Template":
    return _Template(kind)


class _Template:
    """One signed port on disk, removed at the end of the process."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.folder = TemporaryDirectory(prefix=f"calaudit-{kind}-")
        self.path = Path(self.folder.name) / "tiny-dense"
        self.authority = Authority()
        self.report: Report | None = None

    def sign(self, contract: Contract) -> None:
        if self.report is not None:
            return
        shutil.copytree(GOOD, self.path, copy_function=shutil.copyfile, ignore=_left_out(self.kind))
        if self.kind != "full":
            _replace(self.path / "port.yaml", "claim: G2", "claim: G0")
        if self.kind == "waived":
            _replace(self.path / MANIFEST, "tiny-dense@d", "tiny-dense@e")
        report = audit(self.path, contract=contract, trust=self.authority.source(), at=NOW)
        made = SignedPort(self.path, contract, report, None, self.authority)
        if self.kind == "waived":
            made.waive()
        self.authority.sign_port(self.path, report, contract, through=("G0", "G1", "G2") if self.kind == "full" else ["G0"])
        if self.kind == "waived":
            digest = kit.payload_digest(self.path / WAIVER)
            made.signoff("G0", "model", waivers=kit.named({WAIVER: digest}))
        self.report = report


def _left_out(kind: str) -> Callable[[str, list[str]], Sequence[str]]:
    folders = ["signoffs", "waivers", "attestations"] + ([] if kind == "full" else ["01-reference", "02-onnx"])
    return lambda folder, names: [name for name in names if Path(folder) == GOOD and name in folders]


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{path} does not contain {old!r} once"
    path.write_text(text.replace(old, new), "utf-8")


def signed_copy(kind: str, target: Path, contract: Contract) -> SignedPort:
    """A copy of a signed port at ``target``, which must not exist."""
    template = _template(kind, contract.digest)
    template.sign(contract)
    assert template.report is not None
    shutil.copytree(template.path, target, copy_function=shutil.copyfile)
    authority = copy.deepcopy(template.authority)
    return SignedPort(target, contract, template.report, authority.seen(), authority)
