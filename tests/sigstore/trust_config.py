"""The documents that tell a client whom to trust and where to sign."""

from typing import Any

from cryptography import x509

from tests.sigstore.certificates import Key, Period, der, key_id, public_der
from tests.sigstore.log import b64

TIMESTAMP_PATH = "/api/v1/timestamp"


def valid_for(period: Period) -> dict[str, str]:
    ends = {"start": period.start, "end": period.end}
    return {name: moment.isoformat().replace("+00:00", "Z") for name, moment in ends.items() if moment is not None}


def log(key: Key, url: str, period: Period) -> dict[str, Any]:
    """A transparency log, of certificates or of signatures."""
    return {
        "baseUrl": url,
        "hashAlgorithm": "SHA2_256",
        "publicKey": {
            "rawBytes": b64(public_der(key)),
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
            "validFor": valid_for(period),
        },
        "logId": {"keyId": b64(key_id(key))},
    }


def authority(chain: list[x509.Certificate], url: str, period: Period) -> dict[str, Any]:
    """An authority, of certificates or of timestamps; its chain ends with its root."""
    return {
        "subject": {"organization": "loopback", "commonName": "loopback"},
        "uri": url,
        "certChain": {"certificates": [{"rawBytes": b64(der(certificate))} for certificate in chain]},
        "validFor": valid_for(period),
    }


def signing_config(url: str, *, rekor: int, timestamps: bool) -> dict[str, Any]:
    """Where a client signs; ``rekor`` is the version of the log's interface."""

    def service(address: str, version: int) -> dict[str, Any]:
        valid = {"start": "2024-01-01T00:00:00Z"}
        return {"url": address, "majorApiVersion": version, "validFor": valid, "operator": "loopback"}

    return {
        "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
        "caUrls": [service(url, 1)],
        "oidcUrls": [service(url, 1)],
        "rekorTlogUrls": [service(url, rekor)],
        "rekorTlogConfig": {"selector": "ANY"},
        "tsaUrls": [service(url + TIMESTAMP_PATH, 1)] if timestamps else [],
        "tsaConfig": {"selector": "ANY"},
    }
