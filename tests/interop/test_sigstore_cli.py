"""The ``sigstore`` command verifies what calaudit signed, offline, against the same trust configuration."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from calaudit.sign.keyless import sign_bundle
from tests.sigstore.loopback import ISSUER, SUBJECT, Loopback

ARTIFACT = b"tokens"


@pytest.mark.parametrize("rekor", [1, 2])
def test_the_command_verifies_what_calaudit_signed(loopback: Loopback, tmp_path: Path, rekor: int) -> None:
    artifact = tmp_path / "tokens.jsonl"
    artifact.write_bytes(ARTIFACT)
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": artifact.name, "digest": {"sha256": hashlib.sha256(ARTIFACT).hexdigest()}}],
        "predicateType": "urn:calaudit:predicate:gate-signoff:v1",
        "predicate": {"gate": "G1"},
    }
    config = loopback.write_config(tmp_path, rekor=rekor)
    bundle = tmp_path / "bundle.json"
    bundle.write_bytes(sign_bundle(json.dumps(statement).encode(), trust_config=config, token=loopback.token()))

    def verify(subject: str, issuer: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sigstore", "--trust-config", str(config), "verify", "identity", "--offline"]
        who = ["--bundle", str(bundle), "--cert-identity", subject, "--cert-oidc-issuer", issuer, str(artifact)]
        return subprocess.run([*command, *who], capture_output=True, text=True, check=False)

    done = verify(SUBJECT, ISSUER)
    assert done.returncode == 0, done.stderr
    assert f"OK: {artifact}" in done.stderr
    assert json.loads(done.stdout) == statement
    if rekor == 1:
        assert verify(SUBJECT, "https://login.evil.example").returncode != 0
