"""Envelopes and statements that two readers would read in two ways, or that are something else."""

import base64
import json
import shutil
import unicodedata
from collections.abc import Callable
from typing import Any

import rfc8785

from tests.trust import authority as kit
from tests.trust.authority import payload
from tests.trust.forgeries import forge
from tests.trust.signed_port import G0, MANIFEST, WAIVER, SignedPort

MALFORMED = "port.envelope-malformed"


def _envelope(port: SignedPort, change: Callable[[dict[str, Any]], object]) -> None:
    document = port.envelope()
    change(document)
    port.write(G0, document)


def _payload(port: SignedPort, text: Callable[[str], str]) -> None:
    _envelope(port, lambda document: document.update(payload=text(document["payload"])))


def _subject(port: SignedPort, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the subjects of a statement and have the owner sign it."""
    port.resign(G0, lambda document: change(document["subject"]), "model")


def _name(port: SignedPort, change: Callable[[str], str]) -> None:
    """Spell the name of the manifest in another way."""
    _subject(port, lambda items: [i.update(name=change(i["name"])) for i in items if i["name"] == MANIFEST])


def _digest(port: SignedPort, change: Callable[[str], dict[str, Any]]) -> None:
    _subject(port, lambda items: items[0].update(digest=change(items[0]["digest"]["sha256"])))


@forge(MALFORMED, "fail: The file is empty")
def an_empty_file(port: SignedPort) -> None:
    port.write(G0, "")


@forge(MALFORMED, "fail: Not JSON")
def two_documents_in_one_file(port: SignedPort) -> None:
    port.write(G0, json.dumps(port.envelope()) * 2)


@forge(MALFORMED, "fail: It is not an envelope")
def a_list_of_envelopes(port: SignedPort) -> None:
    port.write(G0, [port.envelope()])


@forge(MALFORMED, "fail: An envelope has exactly the members")
def one_member_more(port: SignedPort) -> None:
    _envelope(port, lambda document: document.update(comment="see the other one"))


@forge(MALFORMED, "fail: An envelope has exactly the members")
def no_payload_type(port: SignedPort) -> None:
    _envelope(port, lambda document: document.pop("payloadType"))


@forge(MALFORMED, "fail: The payload type is")
def another_payload_type(port: SignedPort) -> None:
    _envelope(port, lambda document: document.update(payloadType="application/vnd.in-toto.v1+json"))


@forge(MALFORMED, "fail: The envelope has no signature")
def an_empty_list_of_signatures(port: SignedPort) -> None:
    _envelope(port, lambda document: document.update(signatures=[]))


@forge(MALFORMED, "fail: The envelope has no signature")
def one_signature_that_is_no_list(port: SignedPort) -> None:
    _envelope(port, lambda document: document.update(signatures=document["signatures"][0]))


@forge(MALFORMED, "fail: It is Base64 text")
def a_signature_of_nothing(port: SignedPort) -> None:
    _envelope(port, lambda document: document["signatures"][0].update(sig=""))


@forge(MALFORMED, "fail: Two signatures carry the key id")
def one_signature_twice(port: SignedPort) -> None:
    _envelope(port, lambda document: document.update(signatures=document["signatures"] * 2))


@forge(MALFORMED, "fail: A signature's keyid is a lower-case hexadecimal id")
def a_key_id_in_capitals(port: SignedPort) -> None:
    _envelope(port, lambda document: document["signatures"][0].update(keyid=document["signatures"][0]["keyid"].upper()))


@forge(MALFORMED, "fail: A signature has the members keyid and sig")
def a_certificate_beside_the_signature(port: SignedPort) -> None:
    _envelope(port, lambda document: document["signatures"][0].update(cert="-----BEGIN CERTIFICATE-----"))


@forge(MALFORMED, "fail: The key 'payload' is given twice")
def two_payloads(port: SignedPort) -> None:
    text = json.dumps(port.envelope())
    port.write(G0, text.replace('{"payload"', '{"payload": "e30=", "payload"', 1))


def _padded(port: SignedPort) -> None:
    """Sign the statement and as many spaces as make its Base64 end with two equals signs."""
    body = payload(port.path / G0)
    port.sign_bytes(body + b" " * ((1 - len(body)) % 3))


@forge(MALFORMED, "fail: It is not canonical Base64")
def base64_with_other_spare_bits(port: SignedPort) -> None:
    _padded(port)
    following = {"A": "B", "Q": "R", "g": "h", "w": "x"}
    _payload(port, lambda text: f"{text[:-3]}{following[text[-3]]}==")


@forge(MALFORMED, "fail: It is not Base64")
def base64_in_lines(port: SignedPort) -> None:
    _payload(port, lambda text: text[:64] + "\n" + text[64:])


@forge(MALFORMED, "fail: It is not Base64")
def base64_without_padding(port: SignedPort) -> None:
    _padded(port)
    _payload(port, lambda text: text.rstrip("="))


@forge(MALFORMED, "fail: It is not Base64")
def base64_for_urls(port: SignedPort) -> None:
    document = port.statement()
    document["predicate"]["reason"] = "???>>>~~~" * 3
    port.sign_bytes(json.dumps(document).encode())
    assert {"+", "/"} & set(port.envelope()["payload"])
    _payload(port, lambda text: text.replace("+", "-").replace("/", "_"))


@forge(MALFORMED, "fail: Not JSON")
def a_number_that_is_none(port: SignedPort) -> None:
    port.sign_bytes(payload(port.path / G0).replace(b'"version":1', b'"version":NaN'))


@forge(MALFORMED, "deep")
def a_statement_that_is_deep(port: SignedPort) -> None:
    port.sign_bytes(payload(port.path / G0)[:-1] + b',"x":' + b"[" * 900 + b"]" * 900 + b"}")


@forge(MALFORMED, "values")
def a_statement_that_is_huge(port: SignedPort) -> None:
    port.sign_bytes(payload(port.path / G0)[:-1] + b',"x":[' + b"0," * (5 << 20) + b"0]}")


@forge(MALFORMED, "fail: The key 'decision' is given twice")
def two_decisions(port: SignedPort) -> None:
    body = payload(port.path / G0)
    port.sign_bytes(body.replace(b'"decision":', b'"decision":"reject","decision":', 1))


@forge(MALFORMED, "fail: The file begins with a byte order mark")
def a_byte_order_mark(port: SignedPort) -> None:
    port.sign_bytes(b"\xef\xbb\xbf" + payload(port.path / G0))


@forge(MALFORMED, "fail: It is not a statement")
def a_list_of_statements(port: SignedPort) -> None:
    port.sign_bytes(b"[" + payload(port.path / G0) + b"]")


@forge(MALFORMED, "fail: The signed statement")
def another_statement_type(port: SignedPort) -> None:
    port.resign(G0, lambda document: document.update(_type="https://in-toto.io/Statement/v0.1"), "model")


@forge(MALFORMED, "fail: The signed statement")
def another_predicate_type(port: SignedPort) -> None:
    kind = "https://in-toto.io/attestation/test-result/v0.1"
    port.resign(G0, lambda document: document.update(predicateType=kind), "model")


@forge(MALFORMED, "fail: The signed statement")
def a_waiver_in_the_place_of_a_signoff(port: SignedPort) -> None:
    document = port.authority.waiver("G0", "decision-missing", MANIFEST, port.digest(MANIFEST))
    port.sign(G0, document, "model")


@forge(MALFORMED, "fail: The signed statement")
def provenance_in_the_place_of_a_signoff(port: SignedPort) -> None:
    port.sign(G0, port.run(), "model")


@forge(MALFORMED, "fail: The signed statement", kind="waived")
def a_signoff_in_the_place_of_a_waiver(port: SignedPort) -> None:
    port.sign(WAIVER, port.statement(), "model", "release", "release-2")


@forge(MALFORMED, "fail: The signed statement")
def a_signoff_in_the_place_of_provenance(port: SignedPort) -> None:
    path = port.attest()
    port.sign(path, port.statement(), "model-functionary")


@forge(MALFORMED, "fail: Provenance is called")
def a_signoff_moved_to_the_attestations(port: SignedPort) -> None:
    shutil.move(port.path / G0, port.file("attestations/G0.model.dsse.json"))


@forge(MALFORMED, "fail: The bundle holds no DSSE envelope")
def an_envelope_that_calls_itself_a_bundle(port: SignedPort) -> None:
    (port.path / G0).rename(port.path / "signoffs/G0.model.1.sigstore.json")


@forge(MALFORMED, "fail: The signed statement")
def one_member_of_the_predicate_more(port: SignedPort) -> None:
    port.signoff("G0.model", conditions="only if it rains")


@forge(MALFORMED, "fail: The signed statement")
def no_subject(port: SignedPort) -> None:
    _subject(port, lambda items: items.clear())


@forge(MALFORMED, "fail: A file stands among the subjects twice")
def one_subject_with_two_digests(port: SignedPort) -> None:
    _subject(port, lambda items: items.insert(0, {"name": MANIFEST, "digest": {"sha256": "00" * 32}}))


@forge(MALFORMED, "fail: The signed statement")
def a_subject_with_a_dot(port: SignedPort) -> None:
    _name(port, lambda name: f"./{name}")


@forge(MALFORMED, "fail: The signed statement")
def a_subject_with_two_slashes(port: SignedPort) -> None:
    _name(port, lambda name: name.replace("/", "//"))


@forge(MALFORMED, "fail: The signed statement")
def a_subject_above_the_port(port: SignedPort) -> None:
    _name(port, lambda name: f"00-source/../{name}")


@forge(MALFORMED, "fail: The signed statement")
def an_absolute_subject(port: SignedPort) -> None:
    _name(port, lambda name: f"/{name}")


@forge("common.signoff-stale@G0", "fail: 00-Source/source-manifest.json is not there")
def a_subject_in_capitals(port: SignedPort) -> None:
    _name(port, lambda name: name.replace("source/", "Source/", 1))


@forge("common.signoff-stale@G0", "is not there")
def a_subject_in_another_normal_form(port: SignedPort) -> None:
    path = "00-source/hf-config/caf\u00e9.txt"
    port.file(path).write_text("coffee\n")
    item = {"name": unicodedata.normalize("NFD", path), "digest": {"sha256": port.digest(path)}}
    _subject(port, lambda items: items.append(item))


@forge(MALFORMED, "fail: The signed statement")
def a_digest_in_capitals(port: SignedPort) -> None:
    _digest(port, lambda digest: {"sha256": digest.upper()})


@forge(MALFORMED, "fail: The signed statement")
def a_digest_that_is_short(port: SignedPort) -> None:
    _digest(port, lambda digest: {"sha256": digest[:8]})


@forge(MALFORMED, "fail: The signed statement")
def a_digest_of_another_kind(port: SignedPort) -> None:
    _digest(port, lambda digest: {"sha512": digest * 2})


@forge(MALFORMED, "fail: The signed statement")
def two_kinds_of_digest(port: SignedPort) -> None:
    _digest(port, lambda digest: {"sha256": digest, "sha1": "00" * 20})


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def one_byte_of_the_payload(port: SignedPort) -> None:
    body = payload(port.path / G0).replace(b'"approve"', b'"reject" ')
    _payload(port, lambda _: base64.b64encode(body).decode())


@forge("common.signoff-missing@G0", "", exit_code=0)
def a_payload_that_is_not_canonical(port: SignedPort) -> None:
    port.sign_bytes(json.dumps(port.statement(), indent=3).encode())
    assert payload(port.path / G0) != rfc8785.dumps(port.statement())


@forge("common.signoff-missing@G0", "", exit_code=0)
def an_envelope_with_white_space(port: SignedPort) -> None:
    port.write(G0, json.dumps(port.envelope(), indent=4) + "\n\n")
    assert kit.payload(port.path / G0)
