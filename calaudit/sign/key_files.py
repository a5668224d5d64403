"""Private keys in PEM files: made, written so that nobody else can read them, and refused when somebody can."""

import os
import stat
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.signer import CryptoSigner, SSlibKey

from calaudit.errors import UsageError
from calaudit.files import write_atomic
from calaudit.sign.passphrases import Passphrases
from calaudit.trust.keys import material

__all__ = ["ALGORITHMS", "SIZE_MAX", "load_private", "make_key", "public_key", "read_public"]

ALGORITHMS = ("ed25519", "ecdsa-p256")
"""What a new key can be; the first is the default."""

SIZE_MAX = 64 << 10
"""Bytes that a key file may have."""

PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey


def make_key(path: Path, passphrases: Passphrases, *, algorithm: str = ALGORITHMS[0]) -> CryptoSigner:
    """Make a key: the private half to ``path`` (mode 0600), the public half to ``path`` with ``.pub`` appended.

    Raises:
        UsageError: a file is there already or cannot be written, or there is no passphrase.
    """
    public_path = path.with_name(f"{path.name}.pub")
    for taken in (path, public_path):
        if os.path.lexists(taken):
            raise UsageError(f"{taken} exists; keys are never overwritten. Choose another name.")
    passphrase = passphrases.new(f"Passphrase for the new key {path}")
    key: PrivateKey = Ed25519PrivateKey.generate() if algorithm == ALGORITHMS[0] else generate_private_key(SECP256R1())
    encryption = NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase.encode())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    try:
        write_atomic(path, private, mode=0o600, replace=False)
        write_atomic(public_path, public, replace=False)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
    return _signer(key)


def load_private(path: Path, passphrases: Passphrases) -> CryptoSigner:
    """The signer of a key file.

    Raises:
        UsageError: others can read the file, it holds no private key that counts, or the passphrase does not open it.
    """
    data = _private_bytes(path)
    try:
        key = load_pem_private_key(data, None)
    except TypeError:  # cryptography's way to say that the key is encrypted
        passphrase = passphrases.secret(f"Passphrase of {path}")
        try:
            key = load_pem_private_key(data, passphrase.encode())
        except (ValueError, UnsupportedAlgorithm):
            raise UsageError(f"The passphrase does not open {path}, or the file is damaged.") from None
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError(f"{path} holds no private key in PEM (PKCS #8).") from None
    if isinstance(key, Ed25519PrivateKey) or (
        isinstance(key, EllipticCurvePrivateKey) and isinstance(key.curve, SECP256R1)
    ):
        return _signer(key)
    raise UsageError(f"{path} holds a key of another kind; keys in files are ed25519 or ECDSA P-256.")


def read_public(path: Path) -> SSlibKey:
    """The public key in a PEM file.

    Raises:
        UsageError: the file cannot be read, or holds no public key that counts.
    """
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_MAX + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    if b"PRIVATE KEY" in data:
        raise UsageError(f"{path} holds a private key; it should never leave its owner. Give the public one (.pub).")
    try:
        return public_key(data[: SIZE_MAX + 1])
    except ValueError as error:
        raise UsageError(
            f"{path} holds no public key that counts ({error}); it takes PEM, 'BEGIN PUBLIC KEY'."
        ) from error


def public_key(pem: bytes) -> SSlibKey:
    """A public key from PEM, with its id.

    Raises:
        ValueError: it is none that counts.
    """
    try:
        key = SSlibKey.from_crypto(load_pem_public_key(pem))
    except UnsupportedAlgorithm as error:
        raise ValueError("its algorithm is not supported") from error
    material(key)
    return key


def _private_bytes(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise UsageError(f"The key {path} cannot be read: {error.strerror}.") from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{path} is no regular file, so it is no key.")
        if found.st_mode & 0o077:
            raise UsageError(
                f"Others can read or change the private key {path} (mode {found.st_mode & 0o777:04o}). Run: chmod 600 "
                f"{path}"
            )
        return file.read(SIZE_MAX)


def _signer(key: PrivateKey) -> CryptoSigner:
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return CryptoSigner(key, public_key(public))
