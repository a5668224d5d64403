"""A whole Sigstore on 127.0.0.1: certificate authority, transparency logs, timestamp authority.

Real clients sign against it and verify what it gave: sigstore-python, sigstore-js, calaudit. Other trusted roots than
the right one (foreign, expired, not valid yet, with another key) are documents that :meth:`Loopback.trusted_root` makes
from the same keys.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from tests.sigstore import trust_config
from tests.sigstore.authority import Authority, identity_token
from tests.sigstore.certificates import Period, now
from tests.sigstore.log import Log
from tests.sigstore.server import serving
from tests.sigstore.timestamps import Timestamper

SUBJECT = "https://ci.vendor.example/jobs/compile"
ISSUER = "https://login.vendor.example"
OWNER = (SUBJECT, ISSUER)

STATEMENT = json.dumps(
    {
        "predicate": {"gate": "G1", "decision": "approve"},
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"digest": {"sha256": "ab" * 32}, "name": "01-reference/tokens.jsonl"}],
        "predicateType": "urn:calaudit:predicate:gate-signoff:v1",
    },
    indent=1,
).encode()
"""A statement in an order and with spaces of its own: it must come back byte by byte."""


@dataclass
class Loopback:
    """Keys of all services. A second one that was never served is a foreign instance."""

    url: str = "http://127.0.0.1:9"
    authority: Authority = field(default_factory=Authority)
    log: Log = field(default_factory=Log)
    timestamper: Timestamper = field(default_factory=Timestamper)

    def answer(self, path: str, body: bytes, authorization: str | None) -> tuple[str, bytes]:
        """Answer a request; see :class:`tests.sigstore.server.Service`."""
        if path == trust_config.TIMESTAMP_PATH:
            return "application/timestamp-reply", self.timestamper.response(body)
        request = json.loads(body)
        if path == "/api/v2/signingCert":
            out = self.authority.signing_cert(request, authorization)
        else:
            out = {"/api/v1/log/entries": self.log.entry_v1, "/api/v2/log/entries": self.log.entry_v2}[path](request)
        return "application/json", json.dumps(out).encode()

    def token(self, subject: str = SUBJECT, issuer: str = ISSUER, **claims: Any) -> str:
        return identity_token(subject, issuer, **claims)

    def trusted_root(
        self,
        *,
        ca: Period | None = None,
        ct: Period | None = None,
        log: Period | None = None,
        tsa: Period | None = None,
        ca_certificate: x509.Certificate | None = None,
    ) -> dict[str, Any]:
        """The trusted root; each part valid from yesterday on for good, or over the period that is given."""
        always = Period(Period.around().start)
        stamper = self.timestamper
        return {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "certificateAuthorities": [
                trust_config.authority([ca_certificate or self.authority.certificate], self.url, ca or always)
            ],
            "ctlogs": [trust_config.log(self.authority.ct_key, self.url + "/ct", ct or always)],
            "tlogs": [trust_config.log(self.log.key, self.url, log or always)],
            "timestampAuthorities": [
                trust_config.authority([stamper.certificate, stamper.root], self.url, tsa or always)
            ],
        }

    def client_config(self, *, rekor: int = 1, timestamps: bool | None = None) -> dict[str, Any]:
        """A client's trust configuration. Version 2 of the log needs timestamps: it tells no time."""
        stamped = rekor == 2 if timestamps is None else timestamps
        return {
            "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
            "trustedRoot": self.trusted_root(),
            "signingConfig": trust_config.signing_config(self.url, rekor=rekor, timestamps=stamped),
        }

    def write_config(self, folder: Path, *, rekor: int = 1, timestamps: bool | None = None) -> Path:
        path = folder / f"trust-config-{rekor}-{timestamps}.json"
        path.write_text(json.dumps(self.client_config(rekor=rekor, timestamps=timestamps)))
        return path


@contextmanager
def running() -> Iterator[Loopback]:
    """A loopback Sigstore that answers."""
    service = Loopback()
    with serving(service) as port:
        service.url = f"http://127.0.0.1:{port}"
        service.log.origin = f"127.0.0.1:{port}"
        yield service


@pytest.fixture(scope="session")
def loopback() -> Iterator[Loopback]:
    """One for the whole run; tests add entries to its log and disturb nobody.

    Clients ask an HTTP proxy of the environment otherwise, even for what is on this machine.
    """
    with running() as service, pytest.MonkeyPatch.context() as patch:
        for name in ("NO_PROXY", "no_proxy"):
            patch.setenv(name, "127.0.0.1")
        yield service


__all__ = ["ISSUER", "OWNER", "STATEMENT", "SUBJECT", "Loopback", "loopback", "now", "running"]
