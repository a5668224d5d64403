"""Public keys: which kinds count, what their ids must be, and when two of them are one key.

A key id is securesystemslib's: the SHA-256 of the canonical JSON of type, scheme and value. An id that is anything else
is a name somebody chose, and two names would let one key meet a threshold of two (go-tuf GHSA-3633-5h82-39pq).
"""

import hashlib
from types import MappingProxyType
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.formats import encode_canonical
from securesystemslib.signer import KEY_FOR_TYPE_AND_SCHEME, Key, Signature

__all__ = ["KEYLESS", "KeylessKey", "identity", "is_keyless", "key_id", "material", "other_ids"]

KEYLESS = ("sigstore-oidc", "Fulcio")
"""Type and scheme of a keyless key: whoever proves this identity to this issuer."""

RSA_BITS_MIN = 3072
RSA_EXPONENT_MIN = 65537
"""Below it lies 1, with which everybody's message is its own signature."""

_IN_PEM = MappingProxyType(
    {
        ("ecdsa", "ecdsa-sha2-nistp256"): EllipticCurvePublicKey,
        ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"): EllipticCurvePublicKey,
        ("rsa", "rsassa-pss-sha256"): RSAPublicKey,
    }
)
_SCHEMES = frozenset({("ed25519", "ed25519"), *_IN_PEM, KEYLESS})
_ED25519_HEX = 64
_ED25519_PRIME = 2**255 - 19
_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL_ORDER = frozenset({0, 1, _ED25519_PRIME - 1, _ORDER_8, _ED25519_PRIME - _ORDER_8})
"""The y of the eight points whose order divides eight: OpenSSL verifies signatures that nobody made with them."""


class KeylessKey(Key):
    """An identity and its issuer in a delegation; its signatures are Sigstore bundles, verified in ``keyless``."""

    @classmethod
    def from_dict(cls, keyid: str, key_dict: dict[str, Any]) -> "KeylessKey":
        """Read a key of a registry."""
        keytype, scheme, keyval = cls._from_dict(key_dict)
        return cls(keyid, keytype, scheme, keyval, key_dict)

    @classmethod
    def of(cls, identity: str, issuer: str) -> "KeylessKey":
        """The key of an identity, with its id."""
        keyval = {"identity": identity, "issuer": issuer}
        return cls(_digest(*KEYLESS, keyval), *KEYLESS, keyval)

    def to_dict(self) -> dict[str, Any]:
        """What a registry holds of the key."""
        return self._to_dict()

    def verify_signature(self, signature: Signature, data: bytes) -> None:
        """Never: a keyless signature in a plain envelope has no certificate and no log entry."""
        del signature, data
        raise UnverifiedSignatureError(f"{self.keyid} is keyless; it signs Sigstore bundles, not plain envelopes")


# The library's own class for this key asks the public Sigstore instance, whatever root is pinned.
KEY_FOR_TYPE_AND_SCHEME[KEYLESS] = KeylessKey


def key_id(key: Key) -> str:
    """The id a key must have."""
    return _digest(key.keytype, key.scheme, key.keyval)


def is_keyless(key: Key) -> bool:
    """Whether the key is an identity."""
    return (key.keytype, key.scheme) == KEYLESS


def identity(key: Key) -> tuple[str, str]:
    """Identity and issuer of a keyless key.

    Raises:
        ValueError: one of the two is missing or blank: half an identity is anybody's.
    """
    subject, issuer = key.keyval.get("identity"), key.keyval.get("issuer")
    if set(key.keyval) != {"identity", "issuer"} or not _is_text(subject) or not _is_text(issuer):
        complaint = "a keyless key has an identity and an issuer, both not blank, and nothing else"
        raise ValueError(complaint)
    return str(subject), str(issuer)


def material(key: Key) -> str:
    """What the key is, whatever its type is called and however its text is wrapped; equal for equal keys.

    Raises:
        ValueError: the type or scheme does not count, or the value is no such key or too weak.
    """
    if (key.keytype, key.scheme) not in _SCHEMES:
        raise ValueError(f"keys of type {key.keytype} with scheme {key.scheme} do not count")
    if is_keyless(key):
        return "\0".join(identity(key))
    public = str(key.keyval.get("public", ""))
    if set(key.keyval) != {"public"} or not _is_text(public):
        complaint = "a key's value is its member public alone"
        raise ValueError(complaint)
    if key.keytype == "ed25519":
        if len(public) != _ED25519_HEX or public != bytes.fromhex(public).hex():
            raise ValueError("an ed25519 key is 64 lower-case hexadecimal digits")
        if _is_weak(public):
            raise ValueError("it is a point of small order, or none: anybody can sign with it")
        return public
    return _pem_material(key, public)


def other_ids(key: Key) -> frozenset[str]:
    """The ids that a key which :func:`material` accepts would have in its other spellings; a revocation names one."""
    if (key.keytype, key.scheme) in _IN_PEM:
        text = key.keyval["public"].rstrip("\n")
        kinds = [kind for kind in _IN_PEM if kind[1] == key.scheme]
        ids = {_digest(*kind, {"public": spelled}) for kind in kinds for spelled in (text, f"{text}\n")}
        return frozenset(ids - {key_id(key)})
    return frozenset()


def _is_weak(public: str) -> bool:
    y = int.from_bytes(bytes.fromhex(public), "little") & (2**255 - 1)
    return y >= _ED25519_PRIME or y in _SMALL_ORDER


def _pem_material(key: Key, public: str) -> str:
    try:
        loaded = load_pem_public_key(public.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError("its value is no public key in PEM") from error
    # The library verifies with whatever the text holds; an ed25519 key that calls itself RSA would be a second key.
    if not isinstance(loaded, _IN_PEM[key.keytype, key.scheme]):
        raise ValueError(f"its type is {key.keytype}, and its value a key of another type")  # noqa: TRY004 - a wrong value
    if public.rstrip("\n") != loaded.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode().rstrip(
        "\n"
    ):
        raise ValueError("its PEM is wrapped in another way than keys are written")
    if isinstance(loaded, EllipticCurvePublicKey) and not isinstance(loaded.curve, SECP256R1):
        raise ValueError(f"its curve is {loaded.curve.name}, not secp256r1")  # noqa: TRY004 - a wrong value
    if isinstance(loaded, RSAPublicKey) and loaded.key_size < RSA_BITS_MIN:
        raise ValueError(f"an RSA key has at least {RSA_BITS_MIN} bits, not {loaded.key_size}")
    if isinstance(loaded, RSAPublicKey) and loaded.public_numbers().e < RSA_EXPONENT_MIN:
        raise ValueError(f"an RSA key's exponent is at least {RSA_EXPONENT_MIN}, not {loaded.public_numbers().e}")
    return loaded.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo).hex()


def _digest(keytype: str, scheme: str, keyval: dict[str, Any]) -> str:
    canonical = encode_canonical({"keytype": keytype, "scheme": scheme, "keyval": keyval})
    return hashlib.sha256(str(canonical).encode()).hexdigest()


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
