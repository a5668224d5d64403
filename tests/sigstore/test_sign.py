"""Keyless signing against the loopback services."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import calaudit.sign
from calaudit.errors import UsageError
from calaudit.sign.keyless import sign_bundle, token_from
from calaudit.trust.envelope import parse_bundle
from calaudit.trust.keyless import KeylessFault, KeylessUnavailable, verify_bundle
from tests.sigstore.bundles import entry, material
from tests.sigstore.certificates import Period
from tests.sigstore.loopback import ISSUER, OWNER, STATEMENT, SUBJECT, Loopback


@pytest.mark.parametrize(
    ("rekor", "timestamps", "kind"),
    [
        (1, False, {"kind": "dsse", "version": "0.0.1"}),
        (1, True, {"kind": "dsse", "version": "0.0.1"}),
        (2, True, {"kind": "hashedrekord", "version": "0.0.2"}),
    ],
)
def test_what_is_signed_is_the_bytes_that_were_given(
    loopback: Loopback, tmp_path: Path, rekor: int, timestamps: bool, kind: dict[str, str]
) -> None:
    config = loopback.write_config(tmp_path, rekor=rekor, timestamps=timestamps)
    bundle = sign_bundle(STATEMENT, trust_config=config, token=loopback.token())
    assert bundle.count(b"\n") == 1
    assert parse_bundle("x", bundle).payload == STATEMENT
    root = json.dumps(loopback.trusted_root()).encode()
    assert verify_bundle(bundle, trusted_root=root, identities=[OWNER]) == 0
    document = json.loads(bundle)
    assert entry(document)["kindVersion"] == kind
    assert bool(material(document)["timestampVerificationData"]["rfc3161Timestamps"]) == timestamps


@pytest.mark.parametrize(
    ("environment", "token"),
    [
        ({"SIGSTORE_IDENTITY_TOKEN": " a.b.c\n", "SIGSTORE_ID_TOKEN": "d.e.f"}, "a.b.c"),
        ({"SIGSTORE_IDENTITY_TOKEN": "", "SIGSTORE_ID_TOKEN": "d.e.f"}, "d.e.f"),
    ],
)
def test_a_token_from_the_environment(environment: dict[str, str], token: str) -> None:
    assert token_from(environment) == token


def test_no_token_in_the_environment() -> None:
    with pytest.raises(UsageError, match="set SIGSTORE_IDENTITY_TOKEN or SIGSTORE_ID_TOKEN"):
        token_from({"PATH": "/bin"})


@pytest.mark.parametrize("token", ["", "x", "a.b.c"])
def test_a_token_that_is_none(loopback: Loopback, tmp_path: Path, token: str) -> None:
    with pytest.raises(UsageError, match=r"The identity token cannot be used: .*\. Fetch a new one\.$"):
        sign_bundle(STATEMENT, trust_config=loopback.write_config(tmp_path), token=token)


@pytest.mark.parametrize("claims", [{"lifetime": -100}, {"aud": "other"}, {"nbf": 4_000_000_000}])
def test_a_token_that_does_not_count(loopback: Loopback, tmp_path: Path, claims: dict[str, Any]) -> None:
    token = loopback.token(SUBJECT, ISSUER, **claims)
    with pytest.raises(UsageError, match="Fetch a new one") as caught:
        sign_bundle(STATEMENT, trust_config=loopback.write_config(tmp_path), token=token)
    assert token not in str(caught.value)


@pytest.mark.parametrize("payload", [b"", b"{}", b"[]", b'{"_type":"link","name":"G1"}', STATEMENT + b"x"])
def test_only_statements_are_signed(loopback: Loopback, tmp_path: Path, payload: bytes) -> None:
    entries = len(loopback.log.leaves)
    with pytest.raises(UsageError, match="Only an in-toto statement is signed"):
        sign_bundle(payload, trust_config=loopback.write_config(tmp_path), token=loopback.token())
    assert len(loopback.log.leaves) == entries


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "malformed"),
        (b"[]", "no JSON object"),
        (b"{}", "no client trust configuration"),
        (b'{"trustedRoot":{},"signingConfig":[]}', "no client trust configuration"),
        (b'{"trustedRoot":{},"signingConfig":{}}', "cannot be used to sign"),
        (b'{"trusted_root":{}}', "camelCase"),
        (b"{" + b" " * (1 << 20), "larger than"),
    ],
)
def test_a_trust_configuration_that_is_none(loopback: Loopback, tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=message) as caught:
        sign_bundle(STATEMENT, trust_config=path, token=loopback.token())
    assert str(caught.value).rstrip("…").endswith(".")


def test_a_trust_configuration_that_is_not_there(loopback: Loopback, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.json cannot be read: No such file"):
        sign_bundle(STATEMENT, trust_config=tmp_path / "absent.json", token=loopback.token())


def test_a_trust_configuration_without_a_log(loopback: Loopback, tmp_path: Path) -> None:
    config = loopback.client_config()
    config["signingConfig"]["rekorTlogUrls"] = []
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    with pytest.raises(UsageError, match="cannot be used to sign: No valid Rekor"):
        sign_bundle(STATEMENT, trust_config=path, token=loopback.token())


@pytest.mark.parametrize(
    ("service", "said"),
    [
        ("authority.signing_cert", 'The service said: {"message": "ValueError: not today"}.'),
        ("log.entry_v1", 'The service said: {"message": "ValueError: not today"}.'),
        ("timestamper.response", "gave no timestamp."),
    ],
)
def test_a_service_that_refuses(
    loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, said: str
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("not today")

    owner, method = service.split(".")
    monkeypatch.setattr(getattr(loopback, owner), method, fail)
    token = loopback.token()
    with pytest.raises(KeylessFault, match="Nothing was signed with ") as caught:
        sign_bundle(STATEMENT, trust_config=loopback.write_config(tmp_path, timestamps=True), token=token)
    assert token not in caught.value.message
    assert caught.value.message.endswith(said)


def test_a_service_that_is_not_there(tmp_path: Path) -> None:
    nobody = Loopback()
    with pytest.raises(KeylessFault, match=r"Nothing was signed with .*refused"):
        sign_bundle(STATEMENT, trust_config=nobody.write_config(tmp_path), token=nobody.token())


def test_what_does_not_verify_is_not_handed_out(loopback: Loopback, tmp_path: Path) -> None:
    config = loopback.client_config()
    config["trustedRoot"] = loopback.trusted_root(log=Period.over())
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    with pytest.raises(KeylessFault, match="No transparency log of the trusted root was valid"):
        sign_bundle(STATEMENT, trust_config=path, token=loopback.token())


def test_without_sigstore(loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(calaudit.sign, "keyless_client", raising=False)
    monkeypatch.delitem(sys.modules, "calaudit.sign.keyless_client", raising=False)
    monkeypatch.setitem(sys.modules, "sigstore.sign", None)
    with pytest.raises(KeylessUnavailable, match=r"install calaudit\[keyless\]"):
        sign_bundle(STATEMENT, trust_config=loopback.write_config(tmp_path), token=loopback.token())
