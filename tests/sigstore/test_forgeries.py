"""Keyless bundles that must not verify, whatever was done to them."""

import base64
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sigstore.oidc import IdentityToken

from calaudit.pointers import leaves
from calaudit.trust.envelope import parse_bundle
from calaudit.trust.keyless import KeylessFault, verify_bundle
from tests.sigstore.bundles import Bundles, Document, context, edited, entry, material, refused, signed
from tests.sigstore.certificates import now
from tests.sigstore.log import b64
from tests.sigstore.loopback import OWNER, STATEMENT, Loopback

GARBAGE = {
    "nothing": b"",
    "no JSON": b"\x00\xff",
    "a number": b"1",
    "a list": b"[]",
    "null": b"null",
    "an empty object": b"{}",
    "deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a key twice": b'{"mediaType":"x","mediaType":"y"}',
    "huge": b'{"mediaType":"' + b"x" * (17 << 20) + b'"}',
    "a huge number": b'{"mediaType":' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage(bundles: Bundles, data: bytes) -> None:
    refused(data, bundles.root)
    refused(bundles.v1, data)


def _flip(text: str) -> str:
    """Base64 text of the same bytes with one bit changed in the last."""
    data = bytearray(base64.b64decode(text))
    data[-1] ^= 1
    return b64(bytes(data))


def _bundle_edits() -> dict[str, Callable[[Document], object]]:
    def payload(d: Document) -> None:
        d["dsseEnvelope"]["payload"] = b64(STATEMENT.replace(b"approve", b"reject!"))

    def body(d: Document) -> None:
        entry(d)["canonicalizedBody"] = _flip(entry(d)["canonicalizedBody"])

    def proof(d: Document) -> None:
        entry(d)["inclusionProof"]["hashes"] = [_flip(h) for h in entry(d)["inclusionProof"]["hashes"]]

    def root_hash(d: Document) -> None:
        entry(d)["inclusionProof"]["rootHash"] = _flip(entry(d)["inclusionProof"]["rootHash"])

    def checkpoint(d: Document) -> None:
        note = entry(d)["inclusionProof"]["checkpoint"]
        note["envelope"] = "x" + note["envelope"]

    def promise(d: Document) -> None:
        signed_entry = entry(d)["inclusionPromise"]
        signed_entry["signedEntryTimestamp"] = _flip(signed_entry["signedEntryTimestamp"])

    def signatures(d: Document) -> None:
        d["dsseEnvelope"]["signatures"] *= 2

    def message_signature(d: Document) -> None:
        (signature,) = d.pop("dsseEnvelope")["signatures"]
        d["messageSignature"] = {"signature": signature["sig"]}

    return {
        "payload": payload,
        "payload type": lambda d: d["dsseEnvelope"].update(payloadType="text/plain"),
        "signature": lambda d: d["dsseEnvelope"]["signatures"][0].update(sig=b64(b"x" * 70)),
        "two signatures": signatures,
        "no signature": lambda d: d["dsseEnvelope"].update(signatures=[]),
        "no DSSE": message_signature,
        "DSSE and message signature": lambda d: d.update(messageSignature={"signature": b64(b"x")}),
        "log entry": body,
        "inclusion proof": proof,
        "root hash": root_hash,
        "checkpoint": checkpoint,
        "promise": promise,
        "time": lambda d: entry(d).update(integratedTime=str(int(entry(d)["integratedTime"]) + 1)),
        "time without promise": lambda d: entry(d).pop("inclusionPromise"),
        "no time": lambda d: entry(d).pop("integratedTime"),
        "time zero": lambda d: entry(d).update(integratedTime="0"),
        "time beyond the calendar": lambda d: entry(d).update(integratedTime="9" * 18),
        "no proof": lambda d: entry(d).pop("inclusionProof"),
        "no checkpoint": lambda d: entry(d)["inclusionProof"].pop("checkpoint"),
        "no log entry": lambda d: material(d).pop("tlogEntries"),
        "empty log": lambda d: material(d).update(tlogEntries=[]),
        "two log entries": lambda d: material(d).update(tlogEntries=material(d)["tlogEntries"] * 2),
        "entry of another kind": lambda d: entry(d)["kindVersion"].update(kind="intoto", version="0.0.2"),
        "no certificate": lambda d: material(d).pop("certificate"),
        "garbage certificate": lambda d: material(d)["certificate"].update(rawBytes="AAAA"),
        "a bare key": lambda d: material(d).update(publicKey={"hint": "x"}),
        "garbage timestamp": lambda d: material(d).update(
            timestampVerificationData={"rfc3161Timestamps": [{"signedTimestamp": "AAAA"}]}
        ),
        "media type": lambda d: d.update(mediaType="application/json"),
        "older media type": lambda d: d.update(mediaType="application/vnd.dev.sigstore.bundle+json;version=0.1"),
        "second name": lambda d: d.update(dsse_envelope=d["dsseEnvelope"]),
        "unknown member": lambda d: d.update(extra=1),
        "payload with spaces": lambda d: d["dsseEnvelope"].update(payload=" " + d["dsseEnvelope"]["payload"]),
    }


@pytest.mark.parametrize("edit", _bundle_edits().values(), ids=_bundle_edits())
def test_a_tampered_bundle(bundles: Bundles, edit: Callable[[Document], object]) -> None:
    refused(edited(bundles.v1, edit), bundles.root)


def _swap(one: bytes, other: bytes, *path: str) -> bytes:
    """``one`` with a part of ``other``."""
    taken = json.loads(other)
    for name in path:
        taken = taken[name]

    def edit(document: Document) -> None:
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = taken

    return edited(one, edit)


@pytest.mark.parametrize("rekor", [1, 2])
@pytest.mark.parametrize(
    "path",
    [
        ("verificationMaterial", "tlogEntries"),
        ("verificationMaterial", "certificate"),
        ("verificationMaterial",),
        ("dsseEnvelope",),
        ("dsseEnvelope", "signatures"),
        ("dsseEnvelope", "payload"),
    ],
    ids=".".join,
)
def test_a_part_of_another_bundle(loopback: Loopback, bundles: Bundles, rekor: int, path: tuple[str, ...]) -> None:
    other = signed(loopback, STATEMENT.replace(b"G1", b"G2"), rekor=rekor)
    refused(_swap(bundles.v1 if rekor == 1 else bundles.v2, other, *path), bundles.root)


def test_the_timestamp_of_another_bundle(loopback: Loopback, bundles: Bundles) -> None:
    other = signed(loopback, rekor=2)
    refused(_swap(bundles.v2, other, "verificationMaterial", "timestampVerificationData"), bundles.root)


def test_a_message_signature_by_the_right_person(loopback: Loopback, bundles: Bundles) -> None:
    with context(loopback).signer(IdentityToken(loopback.token())) as signer:
        bundle = signer.sign_artifact(STATEMENT).to_json().encode()
    assert "no DSSE envelope" in refused(bundle, bundles.root)


@pytest.mark.parametrize("late", [timedelta(hours=1), timedelta(hours=-1)])
@pytest.mark.parametrize("rekor", [1, 2])
def test_a_signature_made_when_the_certificate_was_not_valid(
    loopback: Loopback, bundles: Bundles, monkeypatch: pytest.MonkeyPatch, late: timedelta, rekor: int
) -> None:
    def clock() -> datetime:
        return now() + late

    monkeypatch.setattr(loopback.log, "clock", clock)
    monkeypatch.setattr(loopback.timestamper, "clock", clock)
    bundle = signed(loopback, rekor=rekor)
    assert "The certificate was valid from" in refused(bundle, bundles.root)


ODD: list[object] = [None, "", 0, -1, "0", 1 << 62, [], {}, "AAAA", "\ud7ff\U0001f600", True, 1.5]


@pytest.mark.parametrize(("kind", "unsigned"), [("v1", []), ("v2", ["/verificationMaterial/tlogEntries/0/logIndex"])])
def test_any_member_may_be_odd(bundles: Bundles, kind: str, unsigned: list[str]) -> None:
    """Whatever stands in a member: the bundle is refused by a sentence, or nothing hangs on the member.

    The index of an entry in version 2 of the log is such a one: the proof has its own, and no time hangs on it.
    """
    bundle: bytes = getattr(bundles, kind)
    meaningless: set[str] = set()
    for pointer, _ in leaves(json.loads(bundle)):
        names = [int(n) if n.isdigit() else n for n in pointer.split("/")[1:]]
        for odd in ODD:

            def edit(document: Any, names: list[str | int] = names, odd: object = odd) -> None:
                for name in names[:-1]:
                    document = document[name]
                document[names[-1]] = odd

            try:
                verify_bundle(edited(bundle, edit), trusted_root=bundles.root, identities=[OWNER])
            except KeylessFault:
                continue
            meaningless.add(pointer)
    assert sorted(meaningless) == unsigned


@given(st.integers(min_value=0, max_value=10_000), st.binary(min_size=1, max_size=4))
def test_any_bytes_may_be_odd(bundles: Bundles, offset: int, noise: bytes) -> None:
    at = offset % len(bundles.v2)
    data = bundles.v2[:at] + noise + bundles.v2[at + len(noise) :]
    try:
        assert verify_bundle(data, trusted_root=bundles.root, identities=[OWNER]) == 0
    except KeylessFault:
        return
    assert parse_bundle("x", data).payload == STATEMENT
