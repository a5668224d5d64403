"""Keyless bundles that verify, and by whom they are signed."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import calaudit.trust
from calaudit.trust.envelope import parse_bundle
from calaudit.trust.keyless import KeylessFault, KeylessStranger, KeylessUnavailable, keyless_signer, verify_bundle
from tests.sigstore.bundles import Bundles, refused, signed
from tests.sigstore.certificates import Period, now
from tests.sigstore.loopback import ISSUER, OWNER, STATEMENT, SUBJECT, Loopback

OTHER = ("https://ci.vendor.example/jobs/other", ISSUER)


@pytest.mark.parametrize("kind", ["v1", "v2", "stamped"])
def test_a_bundle_verifies_without_network_or_process(bundles: Bundles, kind: str, inert: None) -> None:
    bundle: bytes = getattr(bundles, kind)
    assert verify_bundle(bundle, trusted_root=bundles.root, identities=[OTHER, OWNER]) == 1
    assert parse_bundle("x", bundle).payload == STATEMENT


def test_a_fresh_process_imports_the_library_only_when_needed_and_stays_silent(
    bundles: Bundles, tmp_path: Path
) -> None:
    for name, data in (("bundle", bundles.v2), ("root", bundles.root)):
        (tmp_path / name).write_bytes(data)
    script = f"""
import pathlib, sys
from tests import guard
with guard.inert():
    from calaudit.trust.keyless import KeylessFault, verify_bundle
    assert "sigstore" not in sys.modules
    bundle, root = (pathlib.Path(name).read_bytes() for name in sys.argv[1:])
    assert verify_bundle(bundle, trusted_root=root, identities=[{OWNER!r}]) == 0
    try:
        verify_bundle(bundle, trusted_root=root, identities=[{OTHER!r}])
    except KeylessFault:
        print("refused")
"""
    run = [sys.executable, "-c", script, str(tmp_path / "bundle"), str(tmp_path / "root")]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (done.stdout, done.stderr, done.returncode) == ("refused\n", "", 0)


def test_the_signer_of_a_mail_address(loopback: Loopback, bundles: Bundles) -> None:
    bundle = signed(loopback, token=loopback.token("1234", email="ada@vendor.example"))
    signer = keyless_signer(bundle, trusted_root=bundles.root)
    assert (signer.identity, signer.issuer) == ("ada@vendor.example", ISSUER)


def test_retired_authorities_beside_valid_ones_do_not_matter(loopback: Loopback, bundles: Bundles) -> None:
    root = loopback.trusted_root()
    retired = Loopback().trusted_root(ca=Period.over(), ct=Period.over(), log=Period.over(), tsa=Period.over())
    for member in ("certificateAuthorities", "ctlogs", "tlogs", "timestampAuthorities"):
        root[member] = retired[member] + root[member]
    trusted = json.dumps(root).encode()
    for bundle in (bundles.v1, bundles.v2):
        assert verify_bundle(bundle, trusted_root=trusted, identities=[OWNER]) == 0


def test_what_was_retired_after_the_signature_still_vouches_for_it(loopback: Loopback, bundles: Bundles) -> None:
    period = Period(now() - timedelta(days=1), now() + timedelta(seconds=1))
    root = loopback.trusted_root(ca=period, ct=period, log=period, tsa=period)
    assert verify_bundle(bundles.stamped, trusted_root=json.dumps(root).encode(), identities=[OWNER]) == 0


def test_a_log_key_without_a_period_is_valid_for_good(loopback: Loopback, bundles: Bundles) -> None:
    root = loopback.trusted_root()
    del root["tlogs"][0]["publicKey"]["validFor"]
    assert verify_bundle(bundles.v1, trusted_root=json.dumps(root).encode(), identities=[OWNER]) == 0


@pytest.mark.parametrize(
    "identity",
    [
        (SUBJECT, "https://login.evil.example"),
        ("https://ci.vendor.example/jobs/other", ISSUER),
        (SUBJECT + "/", ISSUER),
        (SUBJECT[:-1], ISSUER),
        (SUBJECT.upper(), ISSUER),
        (SUBJECT, ISSUER + "/"),
        (ISSUER, SUBJECT),
        ("https://ci.vendor.example/.*", ISSUER),
    ],
)
def test_only_the_exact_subject_and_issuer(bundles: Bundles, identity: tuple[str, str]) -> None:
    with pytest.raises(KeylessStranger, match=SUBJECT):
        verify_bundle(bundles.v1, trusted_root=bundles.root, identities=[identity])


def test_another_issuer_that_says_the_same_name(loopback: Loopback, bundles: Bundles) -> None:
    bundle = signed(loopback, token=loopback.token(issuer="https://login.evil.example"))
    assert "issuer https://login.evil.example" in refused(bundle, bundles.root)


@pytest.mark.parametrize("identities", [[], [("", ISSUER)], [(SUBJECT, "")], [OWNER, ("", "")]])
def test_an_empty_identity_is_refused(bundles: Bundles, identities: list[tuple[str, str]]) -> None:
    with pytest.raises(KeylessFault, match="neither may be empty"):
        verify_bundle(bundles.v1, trusted_root=bundles.root, identities=identities)


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"names": [SUBJECT, "https://ci.vendor.example/jobs/other"]}, "exactly one signer"),
        ({"newer_iss": "https://login.evil.example"}, "exactly one issuer"),
    ],
)
def test_an_ambiguous_certificate(loopback: Loopback, bundles: Bundles, claims: dict[str, Any], message: str) -> None:
    bundle = signed(loopback, token=loopback.token(**claims))
    assert message in refused(bundle, bundles.root)


def test_without_sigstore(bundles: Bundles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(calaudit.trust, "keyless_library", raising=False)
    monkeypatch.delitem(sys.modules, "calaudit.trust.keyless_library", raising=False)
    monkeypatch.setitem(sys.modules, "sigstore.models", None)
    with pytest.raises(KeylessUnavailable, match=r"install calaudit\[keyless\]"):
        verify_bundle(bundles.v1, trusted_root=bundles.root, identities=[OWNER])
