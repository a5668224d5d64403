"""The only place of trust that imports sigstore-python: half a second, so it is imported when a bundle is met.

Only its public interface is used. What it is handed was read strictly and cut to what was valid (``keyless_root``).
"""

import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat import asn1
from pydantic import ValidationError
from sigstore.models import Bundle, ClientTrustConfig, InvalidBundle
from sigstore.models import TrustedRoot as LibraryRoot
from sigstore.verify import Verifier

from calaudit.errors import Malformed
from calaudit.trust.envelope import PAYLOAD_TYPE, Envelope
from calaudit.trust.keyless_root import TrustedRoot

__all__ = ["Signer", "verified_signer"]

# Without a handler Python prints the library's warnings to the terminal; a verifier only returns or raises.
logging.getLogger("sigstore").addHandler(logging.NullHandler())

_ISSUER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_ISSUER_V2 = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
"""Fulcio's extensions that name the identity provider: as plain text, and (newer) as a DER string."""


@dataclass(frozen=True, slots=True)
class Signer:
    """Who a certificate was given to, and the identity provider that vouched for them. Neither is ever empty."""

    identity: str
    issuer: str


def verified_signer(document: dict[str, Any], envelope: Envelope, root: TrustedRoot) -> Signer:
    """Verify a bundle completely and return who signed it.

    ``document`` and ``envelope`` are two views of one file's bytes (``envelope.bundle``).

    Raises:
        Malformed: a check of ours does not hold; the message is a sentence.
        Exception: anything that the library raises.
    """
    bundle = _load(envelope.bundle or b"")
    times, stamped = _times(document, bundle)
    certificate = bundle.signing_certificate
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    for time in times:
        if not begin <= time <= end:
            raise Malformed(
                f"The certificate was valid from {begin.isoformat()} to {end.isoformat()}, and the signature was made "
                f"at {time.isoformat()}."
            )
    valid = root.valid_at(times, ct_times=_sct_times(certificate), stamped=stamped)
    names = _Names()
    try:
        kind, payload = Verifier(trusted_root=_library_root(valid)).verify_dsse(bundle, names)
    except Exception as error:
        if valid.left_out:
            error.add_note("Not used: " + "; ".join(valid.left_out) + ".")
        raise
    if (kind, payload) != (PAYLOAD_TYPE, envelope.payload) or names.signer is None:
        raise Malformed("What was verified is not the payload that was read: the bundle can be read in two ways.")
    return names.signer


def _load(data: bytes) -> Bundle:
    try:
        return Bundle.from_json(data)
    except InvalidBundle as error:
        if isinstance(error.__context__, ValidationError):
            raise _misshapen("bundle", error.__context__) from error
        raise


def _misshapen(what: str, error: ValidationError) -> Malformed:
    """The first fault of a document's shape; the library's own message holds all of them, and what was found."""
    fault = error.errors(include_url=False, include_input=False)[0]
    place = "/".join(str(name) for name in fault["loc"] if name != "trustedRoot") or "the document"
    return Malformed(f"The {what} is not of the format that Sigstore's have: {place}: {fault['msg'].rstrip('.')}.")


class _Names:
    """A verification policy that takes down who signed instead of judging it: the caller compares exactly.

    The library's own ``Identity`` takes any one of several names and reads only the older issuer extension.
    """

    def __init__(self) -> None:
        self.signer: Signer | None = None

    def verify(self, cert: x509.Certificate) -> None:
        """Called by the library with the certificate whose chain it has verified."""
        self.signer = Signer(identity=_identity(cert), issuer=_issuer(cert))


def _identity(certificate: x509.Certificate) -> str:
    names = list(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    name = names[0] if len(names) == 1 else None
    if not isinstance(name, x509.RFC822Name | x509.UniformResourceIdentifier) or not name.value:
        raise Malformed("The certificate does not name exactly one signer by a mail address or a URI.")
    return name.value


def _issuer(certificate: x509.Certificate) -> str:
    values = set()
    for extension in certificate.extensions:
        value = extension.value
        if not isinstance(value, x509.UnrecognizedExtension):
            continue
        if extension.oid == _ISSUER:
            values.add(value.value.decode())
        elif extension.oid == _ISSUER_V2:
            values.add(asn1.decode_der(str, value.value))
    if len(values) != 1 or "" in values:
        raise Malformed("The certificate does not name exactly one issuer of the signer's identity.")
    return values.pop()


def _times(document: dict[str, Any], bundle: Bundle) -> tuple[list[datetime], bool]:
    """The times that a bundle names for its signature, not verified yet; and whether timestamps are among them.

    The library verifies each that it relies on. Demanding validity at the others too can only refuse more.
    """
    entry = document["verificationMaterial"]["tlogEntries"][0]  # exactly one, or the library had refused it
    integrated = int(entry.get("integratedTime") or 0)
    times = []
    if integrated:
        if not entry.get("inclusionPromise"):
            raise Malformed("The log entry names a time (integratedTime) that no inclusion promise signs.")
        try:
            times.append(datetime.fromtimestamp(integrated, tz=UTC))
        except (ValueError, OverflowError, OSError) as error:
            raise Malformed(f"The log entry names a time (integratedTime {integrated}) beyond the calendar.") from error
    data = bundle.verification_material.timestamp_verification_data
    stamps = data.rfc3161_timestamps if data else []
    times += [stamp.tst_info.gen_time for stamp in stamps]
    if not times:
        raise Malformed("Neither a transparency log nor a timestamp authority says when the signature was made.")
    return times, bool(stamps)


def _sct_times(certificate: x509.Certificate) -> list[datetime]:
    """When certificate transparency logs say that they took the certificate in; the library wants exactly one."""
    kind = x509.PrecertificateSignedCertificateTimestamps
    for extension in certificate.extensions:
        if isinstance(extension.value, kind):
            return [sct.timestamp.replace(tzinfo=UTC) for sct in extension.value]
    raise Malformed("The certificate stands in no certificate transparency log (it has no SCT).")


def _library_root(root: TrustedRoot) -> LibraryRoot:
    """The trusted root as the library's object, which it makes from a file or as part of a client's configuration."""
    config = {
        "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
        "trustedRoot": root.document,
        "signingConfig": {"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json"},
    }
    try:
        return ClientTrustConfig.from_json(json.dumps(config)).trusted_root
    except ValidationError as error:
        raise _misshapen("trusted root", error) from error
