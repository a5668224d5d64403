"""What the pinned trusted root says: whom to trust, and when they were valid."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from calaudit.trust.keyless import verify_bundle
from tests.sigstore.bundles import Bundles, Document, refused
from tests.sigstore.certificates import Period
from tests.sigstore.loopback import OWNER, Loopback


def test_a_foreign_root(bundles: Bundles) -> None:
    assert "certificate chain" in refused(bundles.v1, Loopback().trusted_root())


@pytest.mark.parametrize("member", ["certificateAuthorities", "ctlogs", "tlogs", "timestampAuthorities"])
def test_a_foreign_part(loopback: Loopback, bundles: Bundles, member: str) -> None:
    root = loopback.trusted_root()
    root[member] = Loopback().trusted_root()[member]
    refused(bundles.v2, root)


@pytest.mark.parametrize("period", [Period.over(), Period.to_come()], ids=["over", "to come"])
@pytest.mark.parametrize(
    ("part", "noun"),
    [
        ("ca", "certificate authority"),
        ("ct", "certificate transparency log"),
        ("log", "transparency log"),
        ("tsa", "timestamp authority"),
    ],
)
def test_a_part_that_was_not_valid_at_the_time(
    loopback: Loopback, bundles: Bundles, part: str, noun: str, period: Period
) -> None:
    periods: dict[str, Any] = {part: period}
    message = refused(bundles.v2, loopback.trusted_root(**periods))
    assert f"No {noun} of the trusted root was valid when the signature was made" in message
    assert period.start.isoformat() in message


@pytest.mark.parametrize(
    ("part", "member"),
    [("ca", "certificateAuthorities"), ("ct", "ctlogs"), ("log", "tlogs"), ("tsa", "timestampAuthorities")],
)
def test_a_retired_part_cannot_borrow_the_period_of_a_valid_one(
    loopback: Loopback, bundles: Bundles, part: str, member: str
) -> None:
    periods: dict[str, Any] = {part: Period.over()}
    root = loopback.trusted_root(**periods)
    root[member] += Loopback().trusted_root()[member]
    message = refused(bundles.v2, root)
    assert "The bundle does not verify: " in message
    assert f" Not used: {loopback.url}" in message


@pytest.mark.parametrize("period", [Period.over(), Period.to_come()], ids=["over", "to come"])
def test_an_authority_whose_own_certificate_was_not_valid(loopback: Loopback, bundles: Bundles, period: Period) -> None:
    root = loopback.trusted_root(ca_certificate=loopback.authority.certificate_over(period))
    assert "certificate chain" in refused(bundles.v1, root)


@pytest.mark.parametrize("member", ["certificateAuthorities", "ctlogs", "tlogs"])
@pytest.mark.parametrize("edit", [lambda root, m: root.pop(m), lambda root, m: root.update({m: []})])
def test_a_root_that_lacks_a_part(
    loopback: Loopback, bundles: Bundles, member: str, edit: Callable[[Document, str], object]
) -> None:
    root = loopback.trusted_root()
    edit(root, member)
    assert f"({member})" in refused(bundles.v1, root)


def test_a_stamped_bundle_and_a_root_without_timestamp_authorities(loopback: Loopback, bundles: Bundles) -> None:
    root = loopback.trusted_root()
    del root["timestampAuthorities"]
    assert "No timestamp authority" in refused(bundles.stamped, root)
    assert verify_bundle(bundles.v1, trusted_root=json.dumps(root).encode(), identities=[OWNER]) == 0


def _root_edits() -> dict[str, Callable[[Document], object]]:
    return {
        "media type": lambda r: r.update(mediaType="application/json"),
        "no media type": lambda r: r.pop("mediaType"),
        "list of numbers": lambda r: r.update(tlogs=[1]),
        "no list": lambda r: r.update(ctlogs={}),
        "authority without period": lambda r: r["certificateAuthorities"][0].pop("validFor"),
        "period without start": lambda r: r["tlogs"][0]["publicKey"]["validFor"].pop("start"),
        "period without zone": lambda r: r["tlogs"][0]["publicKey"]["validFor"].update(start="2024-01-01T00:00:00"),
        "period in seconds": lambda r: r["tlogs"][0]["publicKey"]["validFor"].update(start=1704067200),
        "broken end": lambda r: r["certificateAuthorities"][0]["validFor"].update(end="never"),
        "period that is a list": lambda r: r["ctlogs"][0]["publicKey"].update(validFor=[]),
        "second name": lambda r: r["tlogs"][0].update(base_url="https://x.example"),
        "unknown member": lambda r: r.update(extra=1),
        "garbage certificate": lambda r: r["certificateAuthorities"][0]["certChain"].update(
            certificates=[{"rawBytes": "AAAA"}]
        ),
        "no certificates": lambda r: r["certificateAuthorities"][0]["certChain"].update(certificates=[]),
        "garbage key": lambda r: r["tlogs"][0]["publicKey"].update(rawBytes="AAAA"),
        "key of another kind": lambda r: r["tlogs"][0]["publicKey"].update(keyDetails="PKIX_ED25519"),
        "unknown key details": lambda r: r["tlogs"][0]["publicKey"].update(keyDetails="ROT13"),
    }


@pytest.mark.parametrize("edit", _root_edits().values(), ids=_root_edits())
def test_a_root_that_is_not_one(loopback: Loopback, bundles: Bundles, edit: Callable[[Document], object]) -> None:
    root = loopback.trusted_root()
    edit(root)
    refused(bundles.v1, root)
