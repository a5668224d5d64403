"""Signoffs without a key, in the slots of a port: who may fill one, and what a bundle cannot be used for."""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from calaudit import Report
from calaudit.contract import Contract
from calaudit.trust.keys import KeylessKey
from tests import guard
from tests.sigstore.bundles import edited, signed
from tests.sigstore.certificates import Period
from tests.sigstore.loopback import ISSUER, SUBJECT, Loopback, loopback
from tests.trust.signed_port import G0, WAIVER, SignedPort, signed_copy

__all__ = ["loopback"]

BUNDLE = "signoffs/G0.model.1.sigstore.json"
LATER = {"signed_on": "2026-11-30T13:00:00Z"}
SECOND = "signoffs/G0.model.2.sigstore.json"


@pytest.fixture
def port(tmp_path: Path, contract: Contract, loopback: Loopback) -> SignedPort:
    """A port whose G0 nobody signed; one keyless owner may, and beside them one with a key."""
    made = signed_copy("g0", tmp_path / "tiny-dense", contract)
    (made.path / G0).unlink()
    made.registry().keyless["model"] = KeylessKey.of(SUBJECT, ISSUER)
    pin(made, loopback.trusted_root())
    return made


def pin(port: SignedPort, root: dict[str, Any], *, threshold: int = 1) -> None:
    """Let the registry name this Sigstore root."""
    data = json.dumps(root).encode()
    port.authority.extra["sigstore_root_sha256"] = hashlib.sha256(data).hexdigest()
    port.authority.delegations["model"] = (["model"], threshold)
    port.source = port.authority.source(sigstore_root=data, seen=port.seen)


def statement(port: SignedPort, changes: Mapping[str, Any] | None = None) -> bytes:
    found = port.authority.signoff(port.gate("G0"), "model", port.report, port.path, port.contract)
    found["predicate"].update(changes or {})
    return rfc8785.dumps(found)


def judged(port: SignedPort) -> Report:
    with guard.inert():
        return port.audit()


def says(report: Report, rule: str) -> str:
    return "; ".join(f"{r.kind}: {r.message}" for r in report.of(rule) if r.gate in ("G0", "port") and r.is_finding)


def test_a_keyless_owner_signs(port: SignedPort, loopback: Loopback) -> None:
    port.file(BUNDLE).write_bytes(signed(loopback, statement(port), rekor=2))
    report = judged(port)
    assert (report.exit_code, report.gates[1].signed_by) == (0, ("Keyless crew (model)",))


def test_an_owner_with_a_key_and_one_without_meet_a_threshold(port: SignedPort, loopback: Loopback) -> None:
    pin(port, loopback.trusted_root(), threshold=2)
    port.file(BUNDLE).write_bytes(signed(loopback, statement(port)))
    assert "1 of the 2 owners" in says(judged(port), "signoff-threshold")
    port.sign_bytes(statement(port))
    report = judged(port)
    assert (report.exit_code, report.gates[1].signed_by) == (0, ("Keyless crew (model)", "Model team (model)"))


def test_two_owners_who_sign_two_things_have_signed_neither(port: SignedPort, loopback: Loopback) -> None:
    pin(port, loopback.trusted_root(), threshold=2)
    port.file(BUNDLE).write_bytes(signed(loopback, statement(port, LATER)))
    port.sign_bytes(statement(port))
    report = judged(port)
    assert "carries another payload than" in says(report, "envelope-malformed")
    assert report.exit_code == 1


def test_one_owner_with_a_key_and_an_identity_counts_once(port: SignedPort, loopback: Loopback) -> None:
    pin(port, loopback.trusted_root(), threshold=2)
    key = port.authority.keyless.pop("model")
    port.authority.add("model", ["model", "model-2"], 2)
    port.authority.owners = [o for o in port.authority.owners if o["role"] != "model" or "-2" in o["name"]] + [
        {**port.authority.owners[0], "keyids": [port.authority.owners[0]["keyids"][0], key.keyid]}
    ]
    root = json.dumps(loopback.trusted_root()).encode()
    port.source = port.authority.source(sigstore_root=root, registry=with_key(port, key), seen=port.seen)
    port.file(BUNDLE).write_bytes(signed(loopback, statement(port)))
    port.sign_bytes(statement(port))
    report = judged(port)
    assert "1 of the 2 owners" in says(report, "signoff-threshold")
    assert report.exit_code == 1


def with_key(port: SignedPort, key: KeylessKey) -> bytes:
    """The registry with one more key of the model role."""
    from tests.trust import authority as kit
    from tests.trust.forgeries.registries import role_of, sign_json

    document = json.loads(kit.to_bytes(port.authority.registry()))["signed"]
    document["delegations"]["keys"][key.keyid] = key.to_dict()
    role_of(document, "model")["keyids"].append(key.keyid)
    return sign_json(document)


Forge = Callable[[SignedPort, Loopback], None]


def _by(subject: str = SUBJECT, issuer: str = ISSUER) -> Forge:
    def forge(port: SignedPort, loopback: Loopback) -> None:
        port.file(BUNDLE).write_bytes(signed(loopback, statement(port), token=loopback.token(subject, issuer)))

    return forge


def _for(**changes: Any) -> Forge:
    def forge(port: SignedPort, loopback: Loopback) -> None:
        port.file(BUNDLE).write_bytes(signed(loopback, statement(port, changes)))

    return forge


def _below(root: Callable[[Loopback], dict[str, Any]]) -> Forge:
    def forge(port: SignedPort, loopback: Loopback) -> None:
        pin(port, root(loopback))
        port.file(BUNDLE).write_bytes(signed(loopback, statement(port)))

    return forge


def _twice(port: SignedPort, loopback: Loopback) -> None:
    pin(port, loopback.trusted_root(), threshold=2)
    for path in (BUNDLE, SECOND):
        port.file(path).write_bytes(signed(loopback, statement(port)))


def _copied(port: SignedPort, loopback: Loopback) -> None:
    pin(port, loopback.trusted_root(), threshold=2)
    port.file(BUNDLE).write_bytes(signed(loopback, statement(port)))
    shutil.copyfile(port.path / BUNDLE, port.path / SECOND)


def _edited(port: SignedPort, loopback: Loopback) -> None:
    import base64

    payload = statement(port).replace(b"13:00:00Z", b"12:00:00Z")
    bundle = signed(loopback, statement(port, LATER))
    text = base64.b64encode(payload).decode()
    port.file(BUNDLE).write_bytes(edited(bundle, lambda doc: doc["dsseEnvelope"].update(payload=text)))


def _as_envelope(port: SignedPort, loopback: Loopback) -> None:
    """The envelope of the bundle, under the name of one with a key."""
    document = json.loads(signed(loopback, statement(port)))["dsseEnvelope"]
    document["signatures"] = [{"sig": document["signatures"][0]["sig"], "keyid": port.authority.keyless["model"].keyid}]
    port.write(G0, document)


def _where_nobody_is_keyless(port: SignedPort, loopback: Loopback) -> None:
    port.authority.keyless.clear()
    pin(port, loopback.trusted_root())
    port.file(BUNDLE).write_bytes(signed(loopback, statement(port)))


def _as_a_waiver(port: SignedPort, loopback: Loopback) -> None:
    port.sign_bytes(statement(port))
    port.file(WAIVER).write_bytes(signed(loopback, statement(port)))


@pytest.mark.parametrize(
    ("rule", "part", "forge"),
    [
        ("signoff-wrong-role", "fail: The bundle was signed by https://ci.vendor.example/jobs/other", _by("https://ci.vendor.example/jobs/other")),
        ("signoff-wrong-role", "(issuer https://login.other.example); expected", _by(issuer="https://login.other.example")),
        ("signoff-signature-invalid", "fail: The bundle does not verify", _below(lambda _: Loopback().trusted_root())),
        ("signoff-signature-invalid", "fail: ", _below(lambda service: service.trusted_root(ca=Period.over()))),
        ("signoff-signature-invalid", "fail: ", _below(lambda service: service.trusted_root(log=Period.over()))),
        ("signoff-replayed", "fail: It was signed for the port another-port", _for(port="another-port")),
        ("signoff-replayed", "fail: It was signed for the gate G1", _for(gate="G1")),
        ("signoff-rejected", "fail: model rejected the gate: No.", _for(decision="reject", reason="No.")),
        ("signoff-signature-invalid", "fail: The key", _twice),
        ("signoff-signature-invalid", "fail: The key", _copied),
        ("signoff-signature-invalid", "fail: ", _edited),
        ("signoff-signature-invalid", "fail: The signature of Keyless crew", _as_envelope),
        ("signoff-wrong-role", "fail: Nobody who may sign here signs without a key", _where_nobody_is_keyless),
        ("envelope-malformed", "fail: An envelope has exactly the members", _as_a_waiver),
    ],
)  # fmt: skip
def test_what_a_bundle_cannot_do(rule: str, part: str, forge: Forge, port: SignedPort, loopback: Loopback) -> None:
    forge(port, loopback)
    report = judged(port)
    assert part in says(report, rule), [f"{r.rule}: {r.message}" for r in report.findings]
    assert report.exit_code == 1
