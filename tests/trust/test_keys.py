"""Keys: their ids, and when two of them are one."""

import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import CryptoSigner, Key, Signature, SSlibKey

from calaudit.trust.keys import KeylessKey, identity, is_keyless, key_id, material, other_ids

EC = CryptoSigner(ec.derive_private_key(7, ec.SECP256R1())).public_key
PEM = EC.keyval["public"]
ED = CryptoSigner(Ed25519PrivateKey.from_private_bytes(bytes(32))).public_key


def pem(key: SSlibKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()  # type: ignore[union-attr]


def of(keytype: str, scheme: str, public: str) -> SSlibKey:
    return SSlibKey("", keytype, scheme, {"public": public})


def test_an_id_is_the_digest_of_the_canonical_key() -> None:
    body = {"keytype": "ed25519", "keyval": {"public": ED.keyval["public"]}, "scheme": "ed25519"}
    canonical = json.dumps(body, separators=(",", ":"), sort_keys=True)
    assert key_id(ED) == ED.keyid == hashlib.sha256(canonical.encode()).hexdigest()


def test_the_library_computes_the_same_ids() -> None:
    assert [key_id(key) for key in (EC, ED)] == [EC.keyid, ED.keyid]


def test_a_key_is_one_key_under_every_spelling() -> None:
    spellings = [
        of(kind, "ecdsa-sha2-nistp256", text)
        for kind in ("ecdsa", "ecdsa-sha2-nistp256")
        for text in (PEM, PEM.rstrip("\n"))
    ]
    assert len({key_id(key) for key in spellings}) == 4
    assert len({material(key) for key in spellings}) == 1
    for key in spellings:
        assert other_ids(key) == {key_id(other) for other in spellings} - {key_id(key)}


def test_two_keys_are_two() -> None:
    other = CryptoSigner(ec.derive_private_key(8, ec.SECP256R1())).public_key
    assert material(other) != material(EC)
    assert not other_ids(other) & other_ids(EC)


def test_an_ed25519_key_has_one_spelling() -> None:
    assert material(ED) == ED.keyval["public"]
    assert other_ids(ED) == frozenset()


def test_an_rsa_key_counts_from_3072_bits() -> None:
    long, short = (of("rsa", "rsassa-pss-sha256", pem(rsa.generate_private_key(65537, bits))) for bits in (3072, 2048))
    assert material(long)
    assert len(other_ids(long)) == 1
    with pytest.raises(ValueError, match="at least 3072 bits, not 2048"):
        material(short)


@pytest.mark.parametrize(
    ("key", "complaint"),
    [
        (of("ed25519", "ed25519", ED.keyval["public"].upper()), "64 lower-case hexadecimal digits"),
        (of("ed25519", "ed25519", ED.keyval["public"][:-2]), "64 lower-case hexadecimal digits"),
        (of("ed25519", "ed25519", " " + ED.keyval["public"][1:]), "64 lower-case|hexadecimal"),
        (of("ed25519", "ed25519", "x" * 64), "hexadecimal"),
        (of("ed25519", "ed25519", ""), "its member public alone"),
        (of("ed25519", "ed25519", "01" + "00" * 31), "of small order"),
        (of("ed25519", "ed25519", "01" + "00" * 30 + "80"), "of small order"),
        (of("ed25519", "ed25519", "00" * 32), "of small order"),
        (of("ed25519", "ed25519", "ec" + "ff" * 30 + "7f"), "of small order"),
        (of("ed25519", "ed25519", "ee" + "ff" * 30 + "7f"), "of small order"),
        (
            of("ed25519", "ed25519", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
            "of small order",
        ),
        (
            of("ed25519", "ed25519", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
            "of small order",
        ),
        (of("rsa", "rsassa-pss-sha256", pem(rsa.generate_private_key(3, 3072))), "exponent is at least 65537, not 3"),
        (of("ecdsa", "ecdsa-sha2-nistp256", "no key"), "no public key in PEM"),
        (of("ecdsa", "ecdsa-sha2-nistp256", pem(ec.derive_private_key(7, ec.SECP384R1()))), "secp384r1, not secp256r1"),
        (of("ecdsa", "ecdsa-sha2-nistp256", pem(Ed25519PrivateKey.from_private_bytes(bytes(32)))), "of another type"),
        (of("rsa", "rsassa-pss-sha256", PEM), "of another type"),
        (of("ecdsa", "ecdsa-sha2-nistp256", PEM + PEM), "wrapped in another way"),
        (of("ecdsa", "ecdsa-sha2-nistp256", "Comment: mine\n" + PEM), "wrapped in another way"),
        (of("ecdsa", "ecdsa-sha2-nistp256", PEM.replace("\n", "\r\n")), "wrapped in another way"),
        (of("ecdsa", "ecdsa-sha2-nistp384", PEM), "do not count"),
        (of("rsa", "rsa-pkcs1v15-sha256", PEM), "do not count"),
        (SSlibKey("", "ed25519", "ed25519", {"public": ED.keyval["public"], "more": "x"}), "its member public alone"),
    ],
)
def test_what_is_no_key(key: Key, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        material(key)


def test_a_keyless_key_is_its_identity_and_issuer() -> None:
    key = KeylessKey.of("ada@vendor.example", "https://login.vendor.example")
    assert is_keyless(key)
    assert key.keyid == key_id(key)
    assert identity(key) == ("ada@vendor.example", "https://login.vendor.example")
    again = Key.from_dict(key.keyid, key.to_dict())
    assert isinstance(again, KeylessKey)
    assert material(again) == material(key) != material(KeylessKey.of("ada@vendor.example", "https://other.example"))
    with pytest.raises(UnverifiedSignatureError, match="signs Sigstore bundles"):
        key.verify_signature(Signature(key.keyid, "00"), b"")


@pytest.mark.parametrize(
    "keyval",
    [
        {},
        {"identity": "ada"},
        {"identity": "ada", "issuer": " "},
        {"identity": "", "issuer": "x"},
        {"identity": "a", "issuer": "x", "more": 1},
    ],
)
def test_half_an_identity_is_nobody(keyval: dict[str, str]) -> None:
    key = KeylessKey("", "sigstore-oidc", "Fulcio", keyval)
    with pytest.raises(ValueError, match="an identity and an issuer"):
        material(key)
