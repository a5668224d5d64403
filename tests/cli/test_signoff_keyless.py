"""``calaudit signoff`` without a key, against the loopback Sigstore services; from there verification is offline."""

import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from calaudit.api import audit
from calaudit.cli import cli
from calaudit.contract import Contract
from calaudit.pins import load_directory
from calaudit.sign.metadata import sign
from calaudit.sign.opening import open_folder
from calaudit.sign.owners import NewOwner
from calaudit.sign.registry import add_owner, settings, successor
from calaudit.trust.keys import KeylessKey
from tests.casebook import PORT
from tests.sign.judged import UNSIGNED
from tests.sign.make import Keepers, keepers
from tests.sigstore.loopback import ISSUER, SUBJECT, Loopback, loopback

__all__ = ["loopback"]


def appoint(made: Keepers, loopback: Loopback) -> None:
    """A second, keyless owner of the model role, so that two have to sign."""
    folder = open_folder(made.path)
    registry = successor(folder.coming_registry, folder.registry_version)
    owner = NewOwner(
        role="model",
        name="Keyless crew",
        contact="mailto:crew@example.org",
        keys=(KeylessKey.of(SUBJECT, ISSUER),),
        delivery_date="2026-12-01",
        delivery_version="1.0",
    )
    root = json.dumps(loopback.trusted_root()).encode()
    add_owner(registry, owner, threshold=2)
    settings(registry, sigstore_root_sha256=hashlib.sha256(root).hexdigest())
    for signer in made.roots[:2]:
        registry = sign(registry, signer)
    folder.write_registry(registry)
    folder.write_sigstore_root(root)
    assert open_folder(made.path).publish() == ("sigstore/trusted_root.json", "roles.json")


def test_an_identity_and_a_key_sign_one_payload(
    loopback: Loopback, contract: Contract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calaudit.cli._signing.load_contract", lambda **_: contract)
    port = tmp_path / "tiny-dense"
    shutil.copytree(PORT, port, ignore=UNSIGNED)
    made = keepers(tmp_path)
    appoint(made, loopback)
    config = loopback.write_config(tmp_path)
    common = ["signoff", "G0", str(port), "--role", "model", "--trust", str(made.path), "--yes"]
    keyless = [*common, "--identity-token-env", "TOKEN", "--sigstore-config", str(config)]

    assert "holds no identity token" in CliRunner().invoke(cli, keyless).output
    monkeypatch.setenv("TOKEN", loopback.token("somebody@else.example"))
    refused = CliRunner().invoke(cli, keyless)
    assert refused.exit_code == 2
    assert "would be refused" in refused.output
    assert not (port / "signoffs").exists()

    monkeypatch.setenv("TOKEN", token := loopback.token())
    done = CliRunner().invoke(cli, keyless)
    assert done.exit_code == 0, done.output
    assert token not in done.output
    assert "1 more owner(s)" in done.output
    done = CliRunner().invoke(cli, [*common, "--key", made.key("model-1")])
    assert done.exit_code == 0, done.output
    names = sorted(path.name for path in (port / "signoffs").iterdir())
    assert names == ["G0.model.1.sigstore.json", "G0.model.dsse.json"]
    report = audit(port, trust=load_directory(made.path), contract=contract, at=datetime.now(UTC))
    gate = next(g for g in report.gates if g.gate == "G0")
    assert sorted(gate.signed_by) == ["Keyless crew (model)", "Model crew AA (model)"]
