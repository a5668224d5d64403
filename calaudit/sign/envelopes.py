"""DSSE envelopes: made, and given one more signature over the bytes that are in them."""

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import rfc8785
from securesystemslib.signer import Signer

from calaudit.errors import Malformed, UsageError
from calaudit.sign.signers import signature_of
from calaudit.sign.statements import to_payload
from calaudit.trust.envelope import PAYLOAD_TYPE, Envelope, Signature, parse_envelope

__all__ = ["add_signature", "sign_payload", "sign_statement", "to_bytes"]


def sign_statement(statement: Mapping[str, Any], signers: Iterable[Signer]) -> bytes:
    """The envelope of a statement.

    Raises:
        UsageError: there is no signer, one does not answer, or one is given twice.
    """
    return sign_payload(to_payload(statement), signers)


def sign_payload(payload: bytes, signers: Iterable[Signer]) -> bytes:
    """The envelope of bytes that are canonical already.

    Raises:
        UsageError: as :func:`sign_statement`.
    """
    envelope = Envelope(path="", payload=payload, signatures=())
    for signer in signers:
        envelope = _signed(envelope, signer)
    if not envelope.signatures:
        raise UsageError("An envelope needs a signature.")
    return to_bytes(payload, envelope.signatures)


def add_signature(data: bytes, signer: Signer, *, expected: bytes, allowed: Collection[str]) -> bytes:
    """The same envelope with one more signature; its payload is not touched.

    ``expected`` is the payload that the caller has shown to whoever signs, ``allowed`` the key ids that have a place.

    Raises:
        UsageError: it holds another payload, the key signed before or has no place here.
    """
    try:
        envelope = parse_envelope("the envelope", data)
    except Malformed as error:
        raise UsageError(f"The envelope cannot be read: {error.message}") from error
    keyid = signer.public_key.keyid
    if envelope.payload != expected:
        raise UsageError("The envelope holds another statement than the one to sign.")
    if keyid not in allowed:
        raise UsageError(f"The key {keyid[:8]} has no place in this envelope.")
    return to_bytes(envelope.payload, _signed(envelope, signer).signatures)


def to_bytes(payload: bytes, signatures: Sequence[Signature]) -> bytes:
    """The file: one line of canonical JSON."""
    document: dict[str, Any] = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": s.keyid, "sig": base64.b64encode(s.value).decode()} for s in signatures],
    }
    return rfc8785.dumps(document) + b"\n"


def _signed(envelope: Envelope, signer: Signer) -> Envelope:
    keyid = signer.public_key.keyid
    if any(s.keyid == keyid for s in envelope.signatures):
        raise UsageError(f"The key {keyid[:8]} has signed this already.")
    value = bytes.fromhex(signature_of(signer, envelope.signed_bytes).signature)
    signatures = (*envelope.signatures, Signature(keyid=keyid, value=value))
    return Envelope(path=envelope.path, payload=envelope.payload, signatures=signatures)
