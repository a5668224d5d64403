"""A timestamp authority (RFC 3161) for binary requests and for the JSON that sigstore-js sends."""

import base64
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from asn1crypto import cms, tsp  # type: ignore[import-untyped]
from asn1crypto import x509 as asn1_x509
from cryptography import x509

from tests.sigstore.certificates import Key, Period, der, new_key, now, root_certificate, sign, timestamper_certificate


@dataclass
class Timestamper:
    """Says when it saw a digest."""

    clock: Callable[[], datetime] = now
    key: Key = field(default_factory=new_key)
    root_key: Key = field(default_factory=new_key)
    root: x509.Certificate = field(init=False)
    certificate: x509.Certificate = field(init=False)

    def __post_init__(self) -> None:
        period = Period.around(days=365)
        self.root = root_certificate("loopback tsa root", self.root_key, period)
        self.certificate = timestamper_certificate(self.key, self.root, self.root_key, period)

    def response(self, request: bytes) -> bytes:
        """``POST /api/v1/timestamp``: a TimeStampResp in DER."""
        if request.startswith(b"{"):
            asked = json.loads(request)
            digest, nonce = base64.b64decode(asked["artifactHash"]), asked.get("nonce")
        else:
            query = tsp.TimeStampReq.load(request)
            digest, nonce = query["message_imprint"]["hashed_message"].native, query["nonce"].native
        token = {"content_type": "signed_data", "content": self._signed(self._info(digest, nonce))}
        return bytes(tsp.TimeStampResp({"status": {"status": "granted"}, "time_stamp_token": token}).dump())

    def _info(self, digest: bytes, nonce: int | None) -> bytes:
        info = {
            "version": "v1",
            "policy": "1.3.6.1.4.1.57264.2",
            "message_imprint": {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": digest},
            "serial_number": int.from_bytes(os.urandom(8), "big"),
            "gen_time": self.clock(),
            "accuracy": {"seconds": 1},
            "ordering": False,
        }
        if nonce is not None:
            info["nonce"] = nonce
        return bytes(tsp.TSTInfo(info).dump())

    def _signed(self, info: bytes) -> cms.SignedData:
        certificate = asn1_x509.Certificate.load(der(self.certificate))
        used = {"hash_algorithm": {"algorithm": "sha256"}, "cert_hash": hashlib.sha256(der(self.certificate)).digest()}
        attributes = cms.CMSAttributes(
            [
                {"type": "content_type", "values": ["tst_info"]},
                {"type": "signing_time", "values": [cms.Time({"utc_time": self.clock()})]},
                {"type": "message_digest", "values": [hashlib.sha256(info).digest()]},
                {"type": "signing_certificate_v2", "values": [tsp.SigningCertificateV2({"certs": [used]})]},
            ]
        )
        signer = {
            "version": "v1",
            "sid": cms.SignerIdentifier(
                {
                    "issuer_and_serial_number": {
                        "issuer": certificate.issuer,
                        "serial_number": certificate.serial_number,
                    }
                }
            ),
            "digest_algorithm": {"algorithm": "sha256"},
            "signed_attrs": attributes,
            "signature_algorithm": {"algorithm": "sha256_ecdsa"},
            "signature": sign(self.key, attributes.dump()),
        }
        return cms.SignedData(
            {
                "version": "v3",
                "digest_algorithms": [{"algorithm": "sha256"}],
                "encap_content_info": {"content_type": "tst_info", "content": cms.ParsableOctetString(info)},
                "certificates": [certificate],
                "signer_infos": [signer],
            }
        )
