"""Signers by URI."""

from pathlib import Path

import pytest
from securesystemslib.exceptions import UnsupportedLibraryError
from securesystemslib.signer import AWSSigner, AzureSigner, GCPSigner, Signature, SSlibKey, VaultSigner

from calaudit.errors import UsageError
from calaudit.sign.passphrases import Passphrases
from calaudit.sign.signers import load_signer, signature_of
from tests.sign.make import key_file

NONE = Passphrases(variable="CALAUDIT_TEST_UNSET")


@pytest.mark.parametrize("scheme", ["", "file2:", "file:"])
def test_files(tmp_path: Path, scheme: str) -> None:
    made = key_file(tmp_path / "key.pem")
    assert load_signer(f"{scheme}{tmp_path}/key.pem", NONE).public_key.keyid == made.public_key.keyid


def test_a_path_with_a_colon_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    key_file(tmp_path / "a:key.pem")
    load_signer("a:key.pem", NONE)
    load_signer("./a:key.pem", NONE)


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("nosuch:key", "no kind of key 'nosuch'"),
        ("gnupg:ABCD", "OpenPGP"),
        ("sigstore:x", "--identity-token-env"),
        ("absent.pem", "cannot be read"),
        ("hsm:2", "PYKCS11LIB"),
        ("azurekms://vault", "expected azurekms"),
        ("hv:name", "expected hv"),
    ],
)
def test_what_cannot_sign_is_refused(uri: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYKCS11LIB", raising=False)
    with pytest.raises(UsageError, match=sentence):
        load_signer(uri, NONE)


@pytest.mark.parametrize(
    ("uri", "signer", "extra"),
    [
        ("awskms:alias/key", AWSSigner, "awskms"),
        ("gcpkms:projects/p", GCPSigner, "gcpkms"),
        ("azurekms://v.vault.azure.net/keys/name/1", AzureSigner, "azurekms"),
        ("hv:name/1", VaultSigner, "vault"),
    ],
)
def test_a_missing_package_is_named(uri: str, signer: type, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*args: object) -> None:
        raise UnsupportedLibraryError("x")

    monkeypatch.setattr(signer, "import_", missing)
    with pytest.raises(UsageError, match=rf"securesystemslib\[{extra}\]"):
        load_signer(uri, NONE)


def test_what_a_cloud_raises_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("token=s3cr3t")

    monkeypatch.setattr(GCPSigner, "import_", fail)
    with pytest.raises(UsageError, match="RuntimeError") as caught:
        load_signer("gcpkms:projects/p", NONE)
    assert "s3cr3t" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_key_that_would_not_count_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_file(tmp_path / "k").public_key
    renamed = SSlibKey("ab" * 32, key.keytype, key.scheme, key.keyval)
    monkeypatch.setattr(GCPSigner, "import_", lambda _: ("x", renamed))
    with pytest.raises(UsageError, match="not the digest"):
        load_signer("gcpkms:projects/p", NONE)
    odd = SSlibKey("ab" * 32, "rsa", "rsa-pkcs1v15-sha224", {"public": "x"})
    monkeypatch.setattr(GCPSigner, "import_", lambda _: ("x", odd))
    with pytest.raises(UsageError, match="would not count"):
        load_signer("gcpkms:projects/p", NONE)


def test_a_signature_that_does_not_verify_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signer, other = key_file(tmp_path / "a"), key_file(tmp_path / "b")
    signature = Signature(signer.public_key.keyid, other.sign(b"x").signature)
    monkeypatch.setattr(signer, "sign", lambda _: signature)
    with pytest.raises(UsageError, match="does not verify"):
        signature_of(signer, b"x")

    def refuse(data: bytes) -> None:
        raise OSError("no token")

    monkeypatch.setattr(signer, "sign", refuse)
    with pytest.raises(UsageError, match="cannot sign"):
        signature_of(signer, b"x")
