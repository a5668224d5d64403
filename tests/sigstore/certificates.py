"""Keys and certificates of the loopback Sigstore."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key = ec.EllipticCurvePrivateKey


def now() -> datetime:
    """The time in whole seconds: X.509 knows no smaller ones."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Period:
    """When something is valid, both ends included; without an end, for good."""

    start: datetime
    end: datetime | None = None

    @classmethod
    def around(cls, *, days: int = 1) -> Self:
        """From some days ago to some days from now."""
        return cls(now() - timedelta(days=days), now() + timedelta(days=days))

    @classmethod
    def over(cls) -> Self:
        """Over since an hour."""
        return cls(now() - timedelta(days=2), now() - timedelta(hours=1))

    @classmethod
    def to_come(cls) -> Self:
        """From the next hour on."""
        return cls(now() + timedelta(hours=1), now() + timedelta(days=2))


def new_key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


def public_der(key: Key) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def key_id(key: Key) -> bytes:
    """What logs are known by: the digest of their public key (RFC 6962)."""
    digest = hashes.Hash(hashes.SHA256())
    digest.update(public_der(key))
    return digest.finalize()


def sign(key: Key, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(hashes.SHA256()))


def der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.DER)


def pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def root_certificate(common_name: str, key: Key, period: Period) -> x509.Certificate:
    """A self-signed authority."""
    name = _name(common_name)
    builder = _builder(name, name, key.public_key(), key.public_key(), period)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return builder.add_extension(_usage(authority=True), critical=True).sign(key, hashes.SHA256())


def timestamper_certificate(key: Key, root: x509.Certificate, root_key: Key, period: Period) -> x509.Certificate:
    """What a timestamp authority signs with."""
    builder = _builder(_name("loopback tsa"), root.subject, key.public_key(), root_key.public_key(), period)
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(authority=False), critical=True).add_extension(usage, critical=True)
    return builder.sign(root_key, hashes.SHA256())


def signer_builder(
    public_key: ec.EllipticCurvePublicKey, root: x509.Certificate, root_key: Key, period: Period
) -> x509.CertificateBuilder:
    """A code signing certificate that does not say yet whom it is for."""
    builder = _builder(x509.Name([]), root.subject, public_key, root_key.public_key(), period)
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING])
    return builder.add_extension(_usage(authority=False), critical=True).add_extension(usage, critical=False)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    issuer_key: ec.EllipticCurvePublicKey,
    period: Period,
) -> x509.CertificateBuilder:
    end = period.end or now() + timedelta(days=3650)
    return (
        x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(period.start)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
    )


def _name(common_name: str) -> x509.Name:
    pairs = ((NameOID.ORGANIZATION_NAME, "loopback"), (NameOID.COMMON_NAME, common_name))
    return x509.Name([x509.NameAttribute(oid, value) for oid, value in pairs])


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
