"""DSSE envelopes and Sigstore bundles: parsed once, by the one strict parser, into what was signed and by whom.

The payload's bytes that a signature covers are the bytes that the statement is parsed from (dsse#68). An envelope that
two readers could read differently is no envelope: unknown members, two spellings of Base64, a key id twice.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any, cast

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json

__all__ = [
    "PAYLOAD_TYPE",
    "SIZE_MAX",
    "STATEMENT",
    "Envelope",
    "Signature",
    "parse_bundle",
    "parse_envelope",
    "parse_statement",
]

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
SIZE_MAX = 16 << 20
"""Bytes of one envelope; a signoff over a hundred thousand files has about that."""

_HEX = re.compile(r"[0-9a-f]{8,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One signature of an envelope; ``keyid`` is only a hint which key to try."""

    keyid: str
    value: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What one file holds: the signed bytes, and signatures (DSSE) or a Sigstore bundle as it was read."""

    path: str
    payload: bytes
    signatures: tuple[Signature, ...]
    bundle: bytes | None = None

    @property
    def signed_bytes(self) -> bytes:
        """What a signature covers (DSSE v1, pre-authentication encoding)."""
        kind = PAYLOAD_TYPE.encode()
        return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(self.payload), self.payload)


def parse_envelope(path: str, data: bytes) -> Envelope:
    """Read a DSSE envelope.

    Raises:
        Malformed: it is none, or it could be read in two ways.
    """
    document = _object(data, "an envelope")
    payload, signatures = _dsse(document)
    ids = [s.keyid for s in signatures]
    twice = next((k for k in ids if ids.count(k) > 1), None)
    if twice is not None:
        raise Malformed(f"Two signatures carry the key id {twice[:8]}; a key signs once.", pointer="/signatures")
    for number, signature in enumerate(signatures):
        if not _HEX.fullmatch(signature.keyid):
            raise Malformed(
                "A signature's keyid is a lower-case hexadecimal id.", pointer=f"/signatures/{number}/keyid"
            )
    return Envelope(path=path, payload=payload, signatures=signatures)


def parse_bundle(path: str, data: bytes) -> Envelope:
    """Read the DSSE envelope in a Sigstore bundle; the bundle as a whole is verified by ``keyless``.

    Raises:
        Malformed: it is no bundle with one DSSE signature.
    """
    document = _object(data, "a Sigstore bundle")
    inner = document.get("dsseEnvelope")
    if not isinstance(inner, dict):
        raise Malformed("The bundle holds no DSSE envelope (dsseEnvelope).", pointer="/dsseEnvelope")
    payload, signatures = _dsse(cast("dict[str, Any]", inner), "/dsseEnvelope")
    if len(signatures) != 1:
        raise Malformed("A Sigstore bundle has one signature.", pointer="/dsseEnvelope/signatures")
    return Envelope(path=path, payload=payload, signatures=signatures, bundle=data)


def parse_statement(envelope: Envelope, schema: str, schemas: Schemas) -> dict[str, Any]:
    """The statement that was signed, held to its schema.

    Raises:
        Malformed: it is no in-toto Statement v1 of this kind.
    """
    statement = _object(envelope.payload, "a statement")
    for problem in schemas.errors(schema, cast("Any", statement)):
        raise Malformed(f"The signed statement: {problem.message}", pointer=problem.pointer)
    return statement


def _object(data: bytes, what: str) -> dict[str, Any]:
    if len(data) > SIZE_MAX:
        raise Malformed(f"It has {len(data)} bytes; {what} has at most {SIZE_MAX}.")
    document = parse_json(data)
    if not isinstance(document, dict):
        raise Malformed(f"It is not {what}: a JSON object.")
    return cast("dict[str, Any]", document)


def _dsse(document: dict[str, Any], at: str = "") -> tuple[bytes, tuple[Signature, ...]]:
    if set(document) != {"payload", "payloadType", "signatures"}:
        raise Malformed("An envelope has exactly the members payload, payloadType and signatures.", pointer=at)
    if document["payloadType"] != PAYLOAD_TYPE:
        raise Malformed(f"The payload type is {PAYLOAD_TYPE}.", pointer=f"{at}/payloadType")
    listed = document["signatures"]
    if not isinstance(listed, list) or not listed:
        raise Malformed("The envelope has no signature.", pointer=f"{at}/signatures")
    signatures = []
    for number, item in enumerate(listed):
        where = f"{at}/signatures/{number}"
        if not isinstance(item, dict) or not {"sig"} <= set(item) <= {"sig", "keyid"}:
            raise Malformed("A signature has the members keyid and sig.", pointer=where)
        keyid = item.get("keyid", "")
        if not isinstance(keyid, str):
            raise Malformed("A key id is text.", pointer=f"{where}/keyid")
        signatures.append(Signature(keyid=keyid, value=_base64(item["sig"], f"{where}/sig")))
    return _base64(document["payload"], f"{at}/payload"), tuple(signatures)


def _base64(value: object, pointer: str) -> bytes:
    if not isinstance(value, str) or not value:
        raise Malformed("It is Base64 text.", pointer=pointer)
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed(f"It is not Base64 ({error}).", pointer=pointer) from error
    # Spare bits in the last digit would let many texts stand for one signature.
    if base64.b64encode(decoded).decode() != value:
        raise Malformed("It is not canonical Base64.", pointer=pointer)
    return decoded
