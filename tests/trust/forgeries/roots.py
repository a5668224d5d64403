"""Chains of roots that do not follow from the one that was pinned."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from securesystemslib.signer import SSlibKey
from tuf.api.metadata import Metadata, Root

from tests.trust import authority as kit
from tests.trust.authority import Authority
from tests.trust.forgeries import forge
from tests.trust.forgeries.registries import sign_json
from tests.trust.signed_port import SignedPort

ROOT = "port.root-invalid"
OLD = ("root-1", "root-2", "root-3")
NEW = ("root-4", "root-5", "root-6")


def root(version: int, keys: Sequence[str], signed_by: Sequence[str], **changes: object) -> tuple[str, bytes]:
    """A root of a version, as a trust directory would hold it."""
    made = Authority(root_seeds=list(keys)).root().signed
    made.version = version
    for name, value in changes.items():
        setattr(made, name, value)
    return f"{version}.root.json", kit.to_bytes(kit.sign_metadata(Metadata(made), signed_by))


FIRST = root(1, OLD, OLD[:2])


def chain(port: SignedPort, *roots: tuple[str, bytes], signed_by: Sequence[str] = NEW[:2]) -> None:
    """The roots, and a registry that the newest keys signed."""
    port.registry(signed_by=list(signed_by))
    port.source = port.authority.source(roots=roots, seen=port.seen)


def saw(port: SignedPort, newest: tuple[str, bytes]) -> None:
    """Let the one who judges remember this root."""
    assert port.seen is not None
    made = Metadata[Root].from_bytes(newest[1])
    digest = hashlib.sha256(made.signed_bytes).hexdigest()
    port.seen = replace(port.seen, root_version=made.signed.version, root_sha256=digest)


@forge("common.signoff-missing@G0", "", exit_code=0)
def rotated(port: SignedPort) -> None:
    chain(port, FIRST, root(2, NEW, [*OLD[:2], *NEW[1:]]))


@forge("common.signoff-missing@G0", "", exit_code=0)
def rotated_long_after_the_first_expired(port: SignedPort) -> None:
    first = root(1, OLD, OLD[:2], expires=datetime(2026, 1, 1, tzinfo=UTC))
    saw(port, first)
    chain(port, first, root(2, NEW, [*OLD[:2], *NEW[1:]]))


@forge(ROOT, "fail: 2.root.json is signed by 0 of the keys of version 1; the threshold is 2")
def signed_by_the_new_keys_alone(port: SignedPort) -> None:
    chain(port, FIRST, root(2, NEW, NEW))


@forge(ROOT, "fail: 2.root.json is signed by 1 of the keys of version 1; the threshold is 2")
def signed_by_one_old_key_and_the_new_ones(port: SignedPort) -> None:
    chain(port, FIRST, root(2, NEW, [OLD[0], *NEW]))


@forge(ROOT, "fail: 2.root.json is signed by 0 of its own keys; the threshold is 2")
def signed_by_the_old_keys_alone(port: SignedPort) -> None:
    chain(port, FIRST, root(2, NEW, OLD))


@forge(ROOT, "fail: 3.root.json has version 3; after 1 comes 2")
def a_version_left_out(port: SignedPort) -> None:
    chain(port, FIRST, root(3, NEW, [*OLD, *NEW]))


@forge(ROOT, "fail: 1.root.json has version 1; after 2 comes 3")
def a_version_downwards(port: SignedPort) -> None:
    chain(port, FIRST, root(2, NEW, [*OLD, *NEW]), FIRST, signed_by=OLD[:2])


@forge(ROOT, "fail: 1.root.json has version 1; after 1 comes 2")
def the_first_version_again(port: SignedPort) -> None:
    chain(port, FIRST, root(1, NEW, [*OLD, *NEW]))


@forge(ROOT, "fail: 2.root.json holds the root of version 3; name and version differ")
def under_the_name_of_another_version(port: SignedPort) -> None:
    chain(port, FIRST, ("2.root.json", root(3, NEW, [*OLD, *NEW])[1]))


@forge(ROOT, "fail: 1.root.json is signed by 1 of its own keys; the threshold is 2")
def a_root_that_one_key_signed(port: SignedPort) -> None:
    chain(port, root(1, OLD, OLD[:1]), signed_by=OLD[:2])


@forge(ROOT, "fail: 1.root.json is signed by 0 of its own keys")
def a_threshold_lowered_after_signing(port: SignedPort) -> None:
    document = json.loads(FIRST[1])
    document["signed"]["roles"]["targets"]["threshold"] = 1
    chain(port, ("1.root.json", json.dumps(document).encode()), signed_by=OLD[:1])


@forge("port.registry-rollback", "fail: The newest root is version 1; version 2 was seen before")
def older_than_the_root_that_was_seen(port: SignedPort) -> None:
    assert port.seen is not None
    port.seen = replace(port.seen, root_version=2)


@forge("port.registry-rollback", "fail: 2.root.json is another root than the one of version 2 that was seen before")
def another_successor_by_the_keys_that_were_rotated_out(port: SignedPort) -> None:
    """The old keys were stolen, so the root was rotated; with them the thief makes a successor of his own."""
    saw(port, root(2, NEW, [*OLD, *NEW]))
    thieves = ("thief-1", "thief-2", "thief-3")
    chain(port, FIRST, root(2, thieves, [*OLD[:2], *thieves]), signed_by=thieves[:2])


@forge("common.signoff-missing@G0", "", exit_code=0)
def a_root_that_one_more_of_its_owners_signed(port: SignedPort) -> None:
    saw(port, root(2, NEW, [*OLD[:2], *NEW[:2]]))
    chain(port, FIRST, root(2, NEW, [*OLD, *NEW]))


@forge(ROOT, "fail: 1.root.json expired on 2026-11-29")
def an_expired_root(port: SignedPort) -> None:
    first = root(1, OLD, OLD[:2], expires=datetime(2026, 11, 29, tzinfo=UTC))
    saw(port, first)
    chain(port, first, signed_by=OLD[:2])


@forge(ROOT, "fail: 2.root.json expired on 2026-11-29")
def an_expired_successor(port: SignedPort) -> None:
    chain(port, FIRST, root(2, NEW, [*OLD, *NEW], expires=datetime(2026, 11, 29, tzinfo=UTC)))


@forge("port.registry-unsigned", "signed by 0 of the root's keys")
def a_registry_signed_by_keys_that_were_rotated_out(port: SignedPort) -> None:
    chain(port, FIRST, root(2, NEW, [*OLD, *NEW]), signed_by=OLD)


@forge(ROOT, "fail: 1.root.json: The file is empty")
def an_empty_root(port: SignedPort) -> None:
    chain(port, ("1.root.json", b""))


@forge(ROOT, "fail: the test's root holds no root")
def no_root_at_all(port: SignedPort) -> None:
    chain(port)


@forge(ROOT, "It is TUF metadata of type targets, not root")
def a_registry_as_root(port: SignedPort) -> None:
    chain(port, ("1.root.json", kit.to_bytes(port.authority.registry())))


@forge(ROOT, "fail: 1.root.json: The key 'threshold' is given twice")
def a_root_with_two_thresholds(port: SignedPort) -> None:
    text = (
        FIRST[1]
        .replace(b'"threshold":2', b'"threshold":1,"threshold":2')
        .replace(b'"threshold": 2', b'"threshold": 1, "threshold": 2')
    )
    chain(port, ("1.root.json", text), signed_by=OLD[:1])


@forge(ROOT, "is not the digest of its key")
def a_root_key_under_a_chosen_id(port: SignedPort) -> None:
    signed = json.loads(FIRST[1])["signed"]
    keyid = kit.key("root-1").public_key.keyid
    signed["keys"]["ab" * 32] = signed["keys"][keyid]
    signed["roles"]["root"]["keyids"].append("ab" * 32)
    chain(port, ("1.root.json", sign_json(signed)), signed_by=OLD[:2])


@forge(ROOT, "fail: 1.root.json: It holds a number with a fraction")
def a_root_key_with_a_fraction(port: SignedPort) -> None:
    document = json.loads(FIRST[1])
    next(iter(document["signed"]["keys"].values()))["keyval"]["weight"] = 0.5
    chain(port, ("1.root.json", json.dumps(document).encode()), signed_by=OLD[:2])


@forge(ROOT, "is keyless; a root is signed by keys that need no other root")
def a_keyless_root(port: SignedPort) -> None:
    from calaudit.trust.keys import KeylessKey

    made = Root(version=1, expires=kit.EXPIRES)
    made.add_key(KeylessKey.of("ada@vendor.example", "https://login.vendor.example"), "root")
    chain(port, ("1.root.json", kit.to_bytes(kit.sign_metadata(Metadata(made), OLD))), signed_by=OLD[:2])


@forge(ROOT, "do not count")
def a_root_key_of_a_scheme_that_does_not_count(port: SignedPort) -> None:
    public = kit.key("root-1").public_key
    key = SSlibKey("", "rsa", "rsa-pkcs1v15-sha512", {"public": public.keyval["public"]})
    key.keyid = kit.key_id(key)
    made = Root(version=1, expires=kit.EXPIRES)
    made.add_key(key, "root")
    chain(port, ("1.root.json", kit.to_bytes(kit.sign_metadata(Metadata(made), OLD))), signed_by=OLD[:2])


@forge("port.expires-soon", "fail: The root ends on 2026-12-10, in 9 days", exit_code=0)
def a_root_that_ends_next_week(port: SignedPort) -> None:
    first = root(1, OLD, OLD[:2], expires=datetime(2026, 12, 10, tzinfo=UTC))
    saw(port, first)
    chain(port, first, signed_by=OLD[:2])
