"""Key files: nobody else can read them, and they open by their passphrase only."""

import os
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from securesystemslib.signer import Signature

from calaudit.errors import UsageError
from calaudit.sign.key_files import ALGORITHMS, load_private, make_key, read_public
from calaudit.sign.passphrases import Passphrases
from calaudit.trust.keys import key_id

SECRET = "correct horse battery"


@pytest.fixture
def passphrases(monkeypatch: pytest.MonkeyPatch) -> Passphrases:
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", SECRET)
    return Passphrases()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_new_key_is_private_encrypted_and_signs(tmp_path: Path, passphrases: Passphrases, algorithm: str) -> None:
    path = tmp_path / "key.pem"
    made = make_key(path, passphrases, algorithm=algorithm)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"ENCRYPTED PRIVATE KEY" in path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["key.pem", "key.pem.pub"]
    loaded = load_private(path, passphrases)
    assert loaded.public_key == made.public_key == read_public(tmp_path / "key.pem.pub")
    assert loaded.public_key.keyid == key_id(loaded.public_key)
    loaded.public_key.verify_signature(Signature(made.public_key.keyid, made.sign(b"x").signature), b"x")


def test_a_key_is_never_overwritten(tmp_path: Path, passphrases: Passphrases) -> None:
    path = tmp_path / "key.pem"
    make_key(path, passphrases)
    before = path.read_bytes()
    for again in (path, tmp_path / "dangling"):
        if again != path:
            again.symlink_to(tmp_path / "nowhere")
        with pytest.raises(UsageError, match="never overwritten"):
            make_key(again, passphrases)
    assert path.read_bytes() == before
    path.unlink()
    with pytest.raises(UsageError, match=r"key\.pem\.pub exists"):
        make_key(path, passphrases)


def test_no_key_without_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALAUDIT_PASSPHRASE", raising=False)
    with pytest.raises(UsageError, match="--no-passphrase"):
        make_key(tmp_path / "key.pem", Passphrases())
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", "")
    with pytest.raises(UsageError, match="--no-passphrase"):
        make_key(tmp_path / "key.pem", Passphrases())
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", "short")
    with pytest.raises(UsageError, match="at least 8") as caught:
        make_key(tmp_path / "key.pem", Passphrases())
    assert "short" not in str(caught.value).replace("shorter", "")
    assert not list(tmp_path.iterdir())
    make_key(tmp_path / "key.pem", Passphrases(none=True))
    assert b"BEGIN PRIVATE KEY" in (tmp_path / "key.pem").read_bytes()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o777])
def test_a_key_that_others_reach_is_refused(tmp_path: Path, passphrases: Passphrases, mode: int) -> None:
    path = tmp_path / "key.pem"
    make_key(path, passphrases)
    path.chmod(mode)
    with pytest.raises(UsageError, match="chmod 600"):
        load_private(path, passphrases)


def test_a_wrong_passphrase_says_nothing_else(
    tmp_path: Path, passphrases: Passphrases, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key.pem"
    make_key(path, passphrases)
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", "something quite else")
    with pytest.raises(UsageError, match="does not open") as caught:
        load_private(path, passphrases)
    told = [
        caught.value,
        caught.value.__cause__,
        caught.value.__context__ if not caught.value.__suppress_context__ else 0,
    ]
    assert "something quite else" not in repr(told)


@pytest.mark.parametrize(
    "key", [rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP384R1())], ids=["rsa", "p384"]
)
def test_other_kinds_of_keys_are_refused(tmp_path: Path, passphrases: Passphrases, key: rsa.RSAPrivateKey) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    with pytest.raises(UsageError, match="another kind"):
        load_private(path, passphrases)


@pytest.mark.parametrize("data", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused(tmp_path: Path, passphrases: Passphrases, data: bytes) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(UsageError, match="no private key"):
        load_private(path, passphrases)


def test_what_is_no_file_is_refused(tmp_path: Path, passphrases: Passphrases) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_private(tmp_path / "absent", passphrases)
    os.mkfifo(tmp_path / "fifo", 0o600)
    with pytest.raises(UsageError, match="no regular file"):
        load_private(tmp_path / "fifo", passphrases)


def test_a_private_key_is_no_public_key(tmp_path: Path, passphrases: Passphrases) -> None:
    make_key(tmp_path / "key.pem", passphrases)
    with pytest.raises(UsageError, match="private key"):
        read_public(tmp_path / "key.pem")
    (tmp_path / "x").write_text("no key")
    with pytest.raises(UsageError, match="no public key"):
        read_public(tmp_path / "x")
    with pytest.raises(UsageError, match="cannot be read"):
        read_public(tmp_path / "absent")


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", SECRET)
    assert SECRET not in repr(Passphrases(ask=lambda _what, **_: SECRET))


def test_a_person_is_asked_where_the_environment_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTHER", raising=False)
    asked = []

    def ask(what: str, *, confirm: bool) -> str:
        asked.append((what, confirm))
        return SECRET

    sources = Passphrases(variable="OTHER", ask=ask)
    assert (sources.secret("a"), sources.new("b")) == (SECRET, SECRET)
    assert asked == [("a", False), ("b", True)]
    with pytest.raises(UsageError, match="OTHER"):
        Passphrases(variable="OTHER").secret("Passphrase of x")
