"""A port with steps of a vendor, the vendor's own folder, and what goes to and fro."""

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calaudit import audit
from calaudit.contract import Contract
from calaudit.execute.vendor import tar
from calaudit.execute.vendor.attest import Attestation, prepare_attestation
from calaudit.execute.vendor.claim import Claim
from calaudit.execute.vendor.delivery import Delivery, Desk
from calaudit.execute.vendor.kit import make_kit
from calaudit.execute.vendor.receive import received
from calaudit.execute.vendor.tar_pack import pack
from tests.execute.small import snapshot
from tests.trust import authority as kit
from tests.trust.chained import declare, registry
from tests.trust.signed_port import MANIFEST, SignedPort, signed_copy

SEED = "compiler-functionary"
STEPS: dict[str, dict[str, Any]] = {
    "matrix": {
        "gate": "G0",
        "role": "compiler",
        "run": ["calcc", "--print-matrix", "it's"],
        "materials": [MANIFEST],
        "products": ["vendor/op-matrix.yaml"],
        "executor": {"kind": "local", "network": "none"},
    },
    "answers": {
        "gate": "G0",
        "role": "compiler",
        "run": ["calcc", "--answers"],
        "materials": [MANIFEST],
        "products": ["vendor/responses/**"],
        "executor": {"kind": "local", "network": "none"},
        "env": {"LANG": "C"},
    },
    "fetch": {
        "gate": "G0",
        "role": "model",
        "run": ["python", "x"],
        "materials": [MANIFEST],
        "products": ["00-source/hf-config/config.json"],
        "executor": {"kind": "local", "network": "none"},
    },
}
MATRIX, ANSWERS = "vendor/op-matrix.yaml", "vendor/responses/a.txt"


def unpack(data: bytes) -> dict[str, bytes]:
    found: dict[str, Any] = {}

    def take(member: tar.Member) -> Any:
        found[member.path] = io.BytesIO()
        found[member.path].close = lambda: None
        return found[member.path]

    tar.unpack(io.BytesIO(data), take, tar.Limits(), lambda _: None)
    return {path: file.getvalue() for path, file in found.items()}


@dataclass
class Trade:
    """Both sides: ``port`` without the matrix, ``vendor`` with the unpacked kit and what the vendor made."""

    root: Path
    port: SignedPort
    vendor: Path
    matrix: bytes
    extra: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def begin(cls, root: Path, contract: Contract) -> "Trade":
        port = signed_copy("g0", root / "tiny-dense", contract)
        declare(port, STEPS)
        matrix = (port.path / MATRIX).read_bytes()
        (port.path / MATRIX).unlink()
        made = cls(root, port, root / "vendor", matrix)
        made.write(made.vendor, unpack(make_kit(port.path, contract, ["compiler"]).data))
        made.write(made.vendor, {MANIFEST: (port.path / MANIFEST).read_bytes(), MATRIX: matrix, ANSWERS: b"Yes.\n"})
        return made

    def write(self, folder: Path, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)

    def draft(self, step: str = "matrix", **changes: Any) -> Attestation:
        claim = Claim(
            step=step,
            command=tuple(STEPS[step]["run"]),
            invocation=f"{step}-1",
            started=datetime(2026, 11, 29, 8, tzinfo=UTC),
            finished=datetime(2026, 11, 29, 9, tzinfo=UTC),
        )
        folders = {"materials": changes.pop("materials", None), "products": changes.pop("products", None)}
        schemas = self.port.contract.schemas
        return prepare_attestation(self.vendor, replace(claim, **changes), schemas, **folders, now=self.port.at)

    def attest(self, step: str = "matrix", seed: str = SEED, **changes: Any) -> dict[str, bytes]:
        """What the vendor signs, put where the vendor works."""
        signed = self.draft(step, **changes).sign(kit.key(seed))
        self.write(self.vendor, signed)
        return signed

    def parcel(self, *steps: str) -> dict[str, bytes]:
        """What a good vendor returns."""
        products = {"matrix": MATRIX, "answers": ANSWERS}
        files = {}
        for step in steps or ("matrix",):
            path = products[step]
            files |= {path: (self.vendor / path).read_bytes(), **self.attest(step)}
        return files

    def archive(self, files: Mapping[str, bytes] | bytes) -> Path:
        path = self.root / "return.tar"
        path.write_bytes(files if isinstance(files, bytes) else pack(files))
        return path

    def desk(self, **changes: Any) -> Desk:
        source = self.port.authority.source(seen=self.port.seen)
        members: dict[str, Any] = {
            "port": self.port.path,
            "contract": self.port.contract,
            "judge": lambda folder: audit(folder, contract=self.port.contract, trust=source, at=self.port.at),
            "spaces": self.root / "spaces",
            "now": self.port.at,
            "registry": registry(self.port),
            **changes,
        }
        return Desk(**members)

    @contextmanager
    def receive(self, files: Mapping[str, bytes] | bytes, **changes: Any) -> Iterator[Delivery]:
        with received(self.archive(files), self.desk(**changes)) as delivery:
            yield delivery

    def land(self, files: Mapping[str, bytes], **changes: Any) -> None:
        with self.receive(files, **changes) as delivery:
            delivery.land()

    def picture(self) -> dict[str, str]:
        return snapshot(self.port.path)


def payload(envelope: bytes) -> dict[str, Any]:
    import base64

    document: dict[str, Any] = json.loads(base64.b64decode(json.loads(envelope)["payload"]))
    return document
