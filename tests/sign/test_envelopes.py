"""Envelopes: what is read back is what was signed."""

import json
from pathlib import Path

import pytest
from securesystemslib.dsse import Envelope as PeerEnvelope

from calaudit.errors import UsageError
from calaudit.sign.envelopes import add_signature, sign_payload, sign_statement
from calaudit.sign.statements import to_payload
from calaudit.trust.envelope import parse_envelope
from tests.sign.make import key_file

STATEMENT = {"_type": "https://in-toto.io/Statement/v1", "b": "ü", "a": [1, 2]}


def test_an_envelope_is_one_line_that_we_and_a_peer_read(tmp_path: Path) -> None:
    one, two = key_file(tmp_path / "1"), key_file(tmp_path / "2")
    data = sign_statement(STATEMENT, [one, two])
    assert data.count(b"\n") == 1
    assert data.endswith(b"\n")
    envelope = parse_envelope("x", data)
    assert (
        envelope.payload
        == to_payload(STATEMENT)
        == '{"_type":"https://in-toto.io/Statement/v1","a":[1,2],"b":"ü"}'.encode()
    )
    peer = PeerEnvelope.from_dict(json.loads(data))
    assert set(peer.verify([one.public_key, two.public_key], 2)) == {one.public_key.keyid, two.public_key.keyid}


def test_a_second_signature_leaves_the_payload(tmp_path: Path) -> None:
    one, two = key_file(tmp_path / "1"), key_file(tmp_path / "2")
    data = sign_statement(STATEMENT, [one])
    payload = to_payload(STATEMENT)
    keys = {one.public_key.keyid, two.public_key.keyid}
    both = parse_envelope("x", add_signature(data, two, expected=payload, allowed=keys))
    assert both.payload == payload
    assert both.signatures[0] == parse_envelope("x", data).signatures[0]
    assert {s.keyid for s in both.signatures} == keys
    for signer, expected, allowed, sentence in (
        (one, payload, keys, "signed this already"),
        (two, payload + b" ", keys, "another statement"),
        (two, payload, {one.public_key.keyid}, "no place"),
    ):
        with pytest.raises(UsageError, match=sentence):
            add_signature(data, signer, expected=expected, allowed=allowed)
    with pytest.raises(UsageError, match="cannot be read"):
        add_signature(b"{}", two, expected=payload, allowed=keys)


def test_an_envelope_without_or_with_twice_a_signer_is_refused(tmp_path: Path) -> None:
    one = key_file(tmp_path / "1")
    with pytest.raises(UsageError, match="needs a signature"):
        sign_payload(b"{}", [])
    with pytest.raises(UsageError, match="already"):
        sign_payload(b"{}", [one, one])
