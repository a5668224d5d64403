"""A certificate authority that speaks Fulcio's v2 API, and the certificate transparency log beside it."""

import base64
import json
import struct
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.sigstore.certificates import (
    Key,
    Period,
    key_id,
    new_key,
    now,
    pem,
    root_certificate,
    sign,
    signer_builder,
)

ISSUER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
ISSUER_V2 = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
SCT_LIST = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")

Claims = dict[str, Any]


@dataclass
class Authority:
    """Gives a certificate to whoever shows a token; it believes every token, since tests write their own."""

    key: Key = field(default_factory=new_key)
    ct_key: Key = field(default_factory=new_key)
    certificate: x509.Certificate = field(init=False)

    def __post_init__(self) -> None:
        self.certificate = self.certificate_over(Period.around(days=365))

    def certificate_over(self, period: Period) -> x509.Certificate:
        """The authority's own certificate over another period: same name, same key."""
        return root_certificate("loopback fulcio", self.key, period)

    def signing_cert(self, request: dict[str, Any], authorization: str | None) -> dict[str, Any]:
        """``POST /api/v2/signingCert``: sigstore-python sends a CSR, sigstore-js a bare public key."""
        token = (authorization or "").removeprefix("Bearer ") or request["credentials"]["oidcIdentityToken"]
        public_key: object
        if "certificateSigningRequest" in request:
            csr = x509.load_pem_x509_csr(base64.b64decode(request["certificateSigningRequest"]))
            if not csr.is_signature_valid:
                raise ValueError("the request is not signed by its own key")
            public_key = csr.public_key()
        else:
            public_key = serialization.load_pem_public_key(request["publicKeyRequest"]["publicKey"]["content"].encode())
        if not isinstance(public_key, ec.EllipticCurvePublicKey):
            raise TypeError("only elliptic curves here")
        chain = [pem(self.issue(public_key, claims_of(token))), pem(self.certificate)]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": chain}}}

    def issue(self, public_key: ec.EllipticCurvePublicKey, claims: Claims) -> x509.Certificate:
        """A certificate for ten minutes, with the promise (SCT) that it stands in the transparency log.

        The claims ``names`` and ``newer_iss`` make what no honest authority makes: a certificate for several people,
        and one whose two issuer extensions differ.
        """
        period = Period(now() - timedelta(seconds=5), now() + timedelta(minutes=10))
        names = [_name(name) for name in claims.get("names") or [claims.get("email") or claims["sub"]]]
        issuer = claims["iss"].encode()
        newer = str(claims.get("newer_iss", claims["iss"])).encode()
        builder = (
            signer_builder(public_key, self.certificate, self.key, period)
            .add_extension(x509.SubjectAlternativeName(names), critical=True)
            .add_extension(x509.UnrecognizedExtension(ISSUER, issuer), critical=False)
            .add_extension(x509.UnrecognizedExtension(ISSUER_V2, _tlv(0x0C, newer)), critical=False)
        )
        # The promise is over the certificate without the promise.
        promise = self._sct(builder.sign(self.key, hashes.SHA256()).tbs_certificate_bytes)
        listed = struct.pack("!HH", len(promise) + 2, len(promise)) + promise
        extension = x509.UnrecognizedExtension(SCT_LIST, _tlv(0x04, listed))
        return builder.add_extension(extension, critical=False).sign(self.key, hashes.SHA256())

    def _sct(self, tbs_certificate: bytes) -> bytes:
        """A signed certificate timestamp of a precertificate (RFC 6962, 3.2)."""
        milliseconds = int(now().timestamp() * 1000)
        entry = key_id(self.key) + len(tbs_certificate).to_bytes(3, "big") + tbs_certificate
        signature = sign(self.ct_key, struct.pack("!BBQH", 0, 0, milliseconds, 1) + entry + b"\0\0")
        sha256_ecdsa = bytes([4, 3])
        head = b"\0" + key_id(self.ct_key) + struct.pack("!QH", milliseconds, 0) + sha256_ecdsa
        return head + struct.pack("!H", len(signature)) + signature


def identity_token(subject: str, issuer: str, *, lifetime: int = 600, **claims: Any) -> str:
    """A token as an identity provider gives one, without a signature."""
    issued = int(now().timestamp())
    body = {"iss": issuer, "sub": subject, "aud": "sigstore", "iat": issued, "exp": issued + lifetime, **claims}
    return f"{_segment({'alg': 'none', 'typ': 'JWT'})}.{_segment(body)}."


def claims_of(token: str) -> Claims:
    claims: Claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return claims


def _segment(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _name(identity: str) -> x509.GeneralName:
    if "@" in identity and "://" not in identity:
        return x509.RFC822Name(identity)
    return x509.UniformResourceIdentifier(identity)


def _tlv(tag: int, value: bytes) -> bytes:
    """DER: a tag, the length of less than 64 KiB, the value."""
    size = len(value)
    if size < 0x80:
        length = bytes([size])
    elif size < 0x100:
        length = bytes([0x81, size])
    else:
        length = b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + value


__all__ = ["Authority", "Claims", "claims_of", "identity_token"]
