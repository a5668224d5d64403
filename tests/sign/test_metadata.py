"""Metadata: expiries, roots, registries, and what is refused before anybody signs it."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from securesystemslib.signer import SSlibKey
from tuf.api.metadata import Metadata, Root, Targets

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.sign.metadata import expiry, sign, to_bytes
from calaudit.sign.registry import add_owner, extension, new_registry, revoke, settings, successor
from calaudit.sign.roots import first_root, fitting_threshold, next_root
from calaudit.sign.soundness import check_new_key, check_registry, check_root
from calaudit.sign.standing import registry_standing, root_standing
from calaudit.sign.summary import registry_changes, root_changes
from calaudit.trust.keys import KeylessKey
from calaudit.trust.roles import ROLES
from calaudit.trust.tuf_file import read_metadata
from tests.sign.make import NOW, key_file, new_owner

END = NOW + timedelta(days=365)


def test_expiry() -> None:
    assert expiry(None, NOW) == END
    assert expiry("30d", NOW) == NOW + timedelta(days=30)
    assert expiry("2027-01-31", NOW) == datetime(2027, 1, 31, 23, 59, 59, tzinfo=UTC)
    for text in ("0d", "2026-11-29", "soon", "31.1.2027", "", "9999999999999d", "2090-01-01", "-1d"):
        with pytest.raises(UsageError):
            expiry(text, NOW)


@pytest.mark.parametrize(("keys", "threshold"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_more_than_half_of_the_keys_sign(keys: int, threshold: int) -> None:
    assert fitting_threshold(keys, None) == threshold


@pytest.mark.parametrize(("keys", "wanted"), [(0, None), (0, 0), (1, 0), (1, 2), (3, 1), (2, -1)])
def test_a_threshold_has_to_fit(keys: int, wanted: int | None) -> None:
    with pytest.raises(UsageError):
        fitting_threshold(keys, wanted)


def test_a_root_is_read_by_tuf_as_it_was_written(tmp_path: Path) -> None:
    signers = [key_file(tmp_path / str(n)) for n in range(3)]
    root = first_root([s.public_key for s in signers], threshold=None, expires=END)
    assert not root_standing(root, None).complete
    for signer in signers[:2]:
        root = sign(root, signer)
    read = read_metadata(to_bytes(root), Root)
    assert read.signed == root.signed
    read.signed.verify_delegate("root", read.signed_bytes, read.signatures)
    assert {role.threshold for role in read.signed.roles.values()} == {2}
    assert root_standing(read, None).missing == 0


def test_a_root_refuses_keys_that_would_count_twice_or_not_at_all(tmp_path: Path) -> None:
    key = key_file(tmp_path / "k").public_key
    with pytest.raises(UsageError, match="twice"):
        first_root([key, key], threshold=None, expires=END)
    with pytest.raises(UsageError, match="not an identity"):
        first_root([KeylessKey.of("a@b", "https://issuer")], threshold=None, expires=END)
    twin = SSlibKey("ab" * 32, key.keytype, key.scheme, key.keyval)
    root = first_root([key], threshold=None, expires=END).signed
    root.add_key(twin, "root")
    with pytest.raises(UsageError, match="not what its id says"):
        check_root(root)


def test_the_next_root_needs_both_thresholds(tmp_path: Path) -> None:
    old = [key_file(tmp_path / str(n)) for n in range(3)]
    new = key_file(tmp_path / "new")
    root = first_root([s.public_key for s in old], threshold=2, expires=END)
    gone = old[0].public_key.keyid[:8]
    following = next_root(root.signed, add=[new.public_key], remove=[gone], threshold=None, expires=END)
    assert following.signed.version == 2
    assert len(following.signed.roles["targets"].keyids) == 3
    assert old[0].public_key.keyid not in following.signed.keys
    for signer, missing in ((new, 2), (old[0], 1), (old[1], 0)):
        following = sign(following, signer)
        assert root_standing(following, root.signed).missing == missing
    assert root_changes(following.signed, root.signed) == [
        f"+ root key {new.public_key.keyid[:8]} (ed25519)",
        f"- root key {gone} (ed25519)",
    ]
    for start in ("0" * 8, gone[:7], ""):
        with pytest.raises(UsageError, match="root key"):
            next_root(root.signed, add=[], remove=[start], threshold=None, expires=END)


def registry_of(tmp_path: Path, roles: tuple[str, ...] = ROLES) -> Metadata[Targets]:
    registry = new_registry(label="test", ports=["p"], expires=END)
    for role in roles:
        for n in range(2 if role == "release" else 1):
            add_owner(registry, new_owner(role, key_file(tmp_path / f"{role}{n}"), name=f"{role} crew {n}x"))
    return registry


def root_of(tmp_path: Path) -> Root:
    return first_root([key_file(tmp_path / "root").public_key], threshold=None, expires=END).signed


@pytest.mark.parametrize(
    "name", ["vendor support", "厂商支持", "TBD", "n/a", "", " ", "\u00a0", "\u3000", "\u200b", "Vendor  Team"]
)
def test_nobody_owns_nothing(tmp_path: Path, name: str) -> None:
    registry = new_registry(label="test", ports=["p"], expires=END)
    with pytest.raises(UsageError, match="says nobody"):
        add_owner(registry, new_owner("model", key_file(tmp_path / "k"), name=name))
    assert extension(registry)["owners"] == []


def test_an_owner_has_a_role_a_contact_a_key_and_a_promise(tmp_path: Path) -> None:
    from dataclasses import replace

    registry = new_registry(label="test", ports=["p"], expires=END)
    good = new_owner("model", key_file(tmp_path / "k"))
    for change, sentence in (
        ({"role": "pilot"}, "no role"),
        ({"contact": "n/a"}, "reaches nobody"),
        ({"contact": "somewhere"}, "reaches nobody"),
        ({"keys": ()}, "needs a key"),
        ({"delivery_date": None}, "promises"),
        ({"delivery_version": " "}, "promises"),
        ({"delivery_date": "soon"}, "no date"),
    ):
        with pytest.raises(UsageError, match=sentence):
            add_owner(registry, replace(good, **change))
    add_owner(registry, replace(good, role="model-functionary", delivery_date=None, delivery_version=None))


def test_a_registry_is_sound_and_read_as_written(tmp_path: Path, contract: Contract) -> None:
    registry = registry_of(tmp_path)
    check_registry(registry, root_of(tmp_path), None, contract.schemas)
    read = read_metadata(to_bytes(registry), Targets)
    assert read.signed == registry.signed
    assert read.signed.delegations is not None
    assert read.signed.delegations.roles is not None
    assert read.signed.delegations.roles["release"].threshold == 2
    assert read.signed.delegations.roles["model"].paths == ["signoffs/*.model.*"]
    assert all(role.terminating for role in read.signed.delegations.roles.values())


def test_an_empty_registry_is_sound(tmp_path: Path, contract: Contract) -> None:
    registry = new_registry(label="test", ports=["p"], expires=END)
    check_registry(registry, root_of(tmp_path), None, contract.schemas)


def test_a_key_has_one_role(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, ("model",))
    signer = key_file(tmp_path / "k")
    add_owner(registry, new_owner("quant", signer))
    for role in ("quant", "export", "quant-functionary"):
        with pytest.raises(UsageError, match="has one role"):
            add_owner(registry, new_owner(role, signer, name="Another crew"))


def test_known_keys_are_refused_by_their_bytes(tmp_path: Path) -> None:
    registry = new_registry(label="test", ports=["p"], expires=END)
    root_signer, signer = key_file(tmp_path / "r"), key_file(tmp_path / "k")
    root = first_root([root_signer.public_key], threshold=None, expires=END).signed
    with pytest.raises(UsageError, match="root key"):
        check_new_key(root_signer.public_key, registry, root)
    add_owner(registry, new_owner("model", signer))
    key = signer.public_key
    with pytest.raises(UsageError, match="in the registry already"):
        check_new_key(SSlibKey("ab" * 32, key.keytype, key.scheme, key.keyval), registry, root)


def test_release_is_two_people(tmp_path: Path, contract: Contract) -> None:
    registry = new_registry(label="test", ports=["p"], expires=END)
    with pytest.raises(UsageError, match="at least 2"):
        add_owner(registry, new_owner("release", key_file(tmp_path / "a")), threshold=1)
    with pytest.raises(UsageError, match="at least 1"):
        add_owner(registry, new_owner("model", key_file(tmp_path / "b")), threshold=0)


def test_a_second_key_of_an_owner_joins_the_first(tmp_path: Path, contract: Contract) -> None:
    registry = registry_of(tmp_path)
    add_owner(registry, new_owner("model", key_file(tmp_path / "k"), name="MODEL  crew 0x"))
    entry = [e for e in extension(registry)["owners"] if e["role"] == "model"]
    assert len(entry) == 1
    assert len(entry[0]["keyids"]) == 2
    check_registry(registry, root_of(tmp_path), None, contract.schemas)


def test_a_revoked_key_is_gone_for_good(tmp_path: Path) -> None:
    registry = registry_of(tmp_path)
    signer = key_file(tmp_path / "k")
    add_owner(registry, new_owner("model", signer, name="Second crew"))
    before = successor(registry, 1)
    keyid = signer.public_key.keyid
    assert revoke(registry, "second CREW", reason="lost laptop", today=date(2026, 11, 30)) == (keyid,)
    assert [e["name"] for e in extension(registry)["owners"] if e["role"] == "model"] == ["model crew 0x"]
    assert extension(registry)["revoked"] == [{"keyid": keyid, "date": "2026-11-30", "reason": "lost laptop"}]
    with pytest.raises(UsageError, match="revoked"):
        add_owner(registry, new_owner("model", signer))
    changes = registry_changes(registry, before)
    assert f"! key {keyid[:8]} is revoked: lost laptop" in changes
    assert "- model: Second crew" in changes
    for who, reason in ((keyid[:8], "x"), ("nobody there", "x"), ("", "x"), ("model crew 0x", " ")):
        with pytest.raises(UsageError):
            revoke(registry, who, reason=reason, today=date(2026, 11, 30))


def test_a_role_without_keys_goes(tmp_path: Path, contract: Contract) -> None:
    registry = registry_of(tmp_path)
    revoke(registry, "quant crew 0x", reason="left", today=date(2026, 11, 30))
    check_registry(registry, root_of(tmp_path), None, contract.schemas)
    assert registry.signed.delegations is not None
    assert "quant" not in (registry.signed.delegations.roles or {})


def test_an_edit_is_a_newer_version_without_signatures(tmp_path: Path) -> None:
    signer = key_file(tmp_path / "r")
    registry = sign(new_registry(label="test", ports=["p"], expires=END), signer)
    edited = successor(registry, 1)
    assert (edited.signed.version, edited.signatures) == (2, {})
    assert successor(edited, 1).signed.version == 2  # nobody has signed that one
    assert successor(sign(edited, signer), 1).signed.version == 3
    assert registry.signed.version == 1


def test_settings(tmp_path: Path) -> None:
    registry = new_registry(label="test", ports=["p"], expires=END)
    before = successor(registry, 1)
    settings(registry, add_ports=["q"], remove_ports=["p"], expires=END + timedelta(days=1), label="other")
    assert extension(registry)["ports"] == ["q"]
    assert registry_changes(registry, before) == [
        "label: other (was test)",
        "+ port q",
        "- port p",
        "expires: 2027-12-01 (was 2027-11-30)",
    ]
    with pytest.raises(UsageError, match="no port z"):
        settings(registry, remove_ports=["z"])


def test_an_unsound_registry_is_not_signed(tmp_path: Path, contract: Contract) -> None:
    registry = registry_of(tmp_path, ("model",))
    extension(registry)["owners"][0]["keyids"].append("ab" * 32)
    with pytest.raises(UsageError, match="would be refused"):
        check_registry(registry, root_of(tmp_path), None, contract.schemas)
    registry = new_registry(label="test", ports=[], expires=END)
    with pytest.raises(UsageError, match="ports"):
        check_registry(registry, root_of(tmp_path), None, contract.schemas)


def test_who_signs_a_registry(tmp_path: Path) -> None:
    signers = [key_file(tmp_path / str(n)) for n in range(3)]
    root = first_root([s.public_key for s in signers], threshold=2, expires=END).signed
    registry = new_registry(label="test", ports=["p"], expires=END)
    stranger = key_file(tmp_path / "s")
    registry = sign(sign(registry, stranger), signers[0])
    standing = registry_standing(registry, root)
    assert (standing.complete, standing.missing, standing.signed) == (False, 1, (signers[0].public_key.keyid,))
    assert not standing.may_sign(stranger.public_key.keyid)
    assert standing.may_sign(signers[1].public_key.keyid)
    assert registry_standing(sign(registry, signers[2]), root).complete
