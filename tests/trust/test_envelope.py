"""Envelopes: what is written is read, and nothing else is."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.contract import Contract
from calaudit.errors import Malformed
from calaudit.sign.envelopes import to_bytes
from calaudit.trust.envelope import (
    PAYLOAD_TYPE,
    SIZE_MAX,
    Envelope,
    Signature,
    parse_bundle,
    parse_envelope,
    parse_statement,
)

keyids = st.text("0123456789abcdef", min_size=8, max_size=128)
signatures = st.lists(
    st.builds(Signature, keyid=keyids, value=st.binary(min_size=1, max_size=96)),
    min_size=1,
    max_size=4,
    unique_by=lambda signature: signature.keyid,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
members = st.fixed_dictionaries(
    {},
    optional={
        "payload": st.just("e30=") | values,
        "payloadType": st.just(PAYLOAD_TYPE) | values,
        "signatures": st.lists(st.fixed_dictionaries({}, optional={"sig": st.just("AA==") | values, "keyid": values}))
        | values,
        "dsseEnvelope": values,
        "more": values,
    },
)


@given(payload=st.binary(min_size=1), found=signatures)
def test_what_is_written_is_read(payload: bytes, found: list[Signature]) -> None:
    envelope = parse_envelope("x", to_bytes(payload, found))
    assert envelope == Envelope(path="x", payload=payload, signatures=tuple(found))
    assert envelope.signed_bytes == b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload)


@given(document=members | values)
def test_whatever_json_is_an_envelope_or_malformed(document: Any) -> None:
    data = json.dumps(document).encode("utf-8", "surrogatepass")
    for parse in (parse_envelope, parse_bundle):
        try:
            envelope = parse("x", data)
        except Malformed:
            continue
        assert envelope.payload
        assert envelope.signatures


@given(data=st.binary())
def test_whatever_bytes_are_malformed(data: bytes) -> None:
    for parse in (parse_envelope, parse_bundle):
        with pytest.raises(Malformed):
            parse("x", data)


@given(data=st.binary(max_size=64))
def test_whatever_was_signed_is_a_statement_or_malformed(contract: Contract, data: bytes) -> None:
    envelope = Envelope(path="x", payload=data, signatures=())
    with pytest.raises(Malformed):
        parse_statement(envelope, "gate-signoff/v1", contract.schemas)


@given(payload=st.binary(min_size=1), at=st.integers(min_value=0), letter=st.sampled_from("AB+/=\n -_"))
def test_a_payload_has_one_spelling(payload: bytes, at: int, letter: str) -> None:
    """Another text in the place of the payload is another payload, or malformed; never the same one."""
    text = base64.b64encode(payload).decode()
    at %= len(text)
    changed = text[:at] + letter + text[at + 1 :]
    document = json.loads(to_bytes(payload, [Signature(keyid="ab" * 32, value=b"x")]))
    try:
        envelope = parse_envelope("x", json.dumps({**document, "payload": changed}).encode())
    except Malformed:
        return
    assert (envelope.payload == payload) == (changed == text)


def test_what_is_too_long_is_not_parsed() -> None:
    with pytest.raises(Malformed, match="at most"):
        parse_envelope("x", b" " * (SIZE_MAX + 1))


def test_a_bundle_has_one_signature() -> None:
    inner = json.loads(to_bytes(b"x", [Signature(keyid="ab" * 32, value=b"x"), Signature(keyid="cd" * 32, value=b"x")]))
    with pytest.raises(Malformed, match="one signature"):
        parse_bundle("x", json.dumps({"dsseEnvelope": inner}).encode())
