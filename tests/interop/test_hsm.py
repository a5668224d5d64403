"""Keys on a token: SoftHSM 2 (Debian package softhsm2) through python-pkcs11, as securesystemslib drives it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from calaudit.cli import cli
from calaudit.errors import UsageError
from calaudit.sign.envelopes import sign_statement
from calaudit.sign.passphrases import Passphrases
from calaudit.sign.signers import load_signer
from calaudit.trust.envelope import parse_envelope
from tests.sign.make import keepers

PIN = "31415926"
LABEL = "calaudit"
MODULES = (
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
)


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A token with a P-256 key under id 2; the module's path."""
    module = next((Path(m) for m in (os.environ.get("SOFTHSM2_MODULE", ""), *MODULES) if m and Path(m).is_file()), None)
    if module is None or shutil.which("softhsm2-util") is None:
        pytest.fail("This test needs SoftHSM 2: apt-get install softhsm2 (or SOFTHSM2_MODULE names libsofthsm2.so).")
    folder = tmp_path_factory.mktemp("softhsm")
    (folder / "tokens").mkdir()
    (folder / "softhsm2.conf").write_text(f"directories.tokendir = {folder / 'tokens'}\nobjectstore.backend = file\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOFTHSM2_CONF", str(folder / "softhsm2.conf"))
        patch.setenv("PYKCS11LIB", str(module))
        util = ["softhsm2-util", "--init-token", "--free", "--label", LABEL, "--pin", PIN, "--so-pin", PIN]
        subprocess.run(util, check=True, capture_output=True)
        _make_key(module)
        yield module


def _make_key(module: Path) -> None:
    import pkcs11
    from pkcs11.util.ec import encode_named_curve_parameters

    found = pkcs11.lib(str(module)).get_token(token_label=LABEL)
    with found.open(rw=True, user_pin=PIN) as session:
        parameters = session.create_domain_parameters(
            pkcs11.KeyType.EC,
            {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters("secp256r1")},
            local=True,
        )
        parameters.generate_keypair(id=b"\x02", label="signing", store=True)


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> Passphrases:
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", PIN)
    return Passphrases()


@pytest.mark.parametrize("uri", ["hsm:2?label=calaudit", "hsm:", "hsm:2"])
def test_a_token_signs(token: Path, secrets: Passphrases, uri: str) -> None:
    signer = load_signer(uri, secrets)
    envelope = parse_envelope("x", sign_statement({"a": 1}, [signer]))
    assert envelope.signatures[0].keyid == signer.public_key.keyid
    assert signer.public_key.scheme == "ecdsa-sha2-nistp256"


def test_a_wrong_pin_and_a_wrong_token_are_sentences(
    token: Path, secrets: Passphrases, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="No PKCS#11 token found"):
        load_signer("hsm:2?label=other", secrets)
    with pytest.raises(UsageError, match="could not find"):
        load_signer("hsm:3?label=calaudit", secrets)
    with pytest.raises(UsageError, match="number of the key"):
        load_signer("hsm:signing", secrets)
    signer = load_signer("hsm:2?label=calaudit", secrets)
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", "27182818")
    with pytest.raises(UsageError, match="cannot sign") as caught:
        sign_statement({"a": 1}, [signer])
    assert "27182818" not in str(caught.value)


def test_a_token_is_a_root_key_and_an_owners_key(
    token: Path, secrets: Passphrases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = keepers(tmp_path)
    uri = "hsm:2?label=calaudit"

    def run(*args: str) -> str:
        done = CliRunner().invoke(cli, ["trust", *args])
        assert done.exit_code == 0, done.output
        return done.output

    run("init", "other", "--key", uri, "--port", "p", "--label", "on a token")
    assert "Published" in run("set", "other", "--add-port", "q", "--sign-with", uri)
    promise = ["--contact", "mailto:a@example.org", "--delivery-date", "2026-12-01", "--delivery-version", "1.0"]
    run("add-owner", "trust", "export", "--name", "Token crew", *promise, "--key", uri)
    assert load_signer(uri, secrets).public_key.keyid[:8] in run("show", str(made.path))
