"""Signatures by the wrong people, too few of them, or over other bytes."""

import base64
import hashlib
import json
from typing import Any

from tests.trust import authority as kit
from tests.trust.forgeries import forge
from tests.trust.signed_port import G0, SignedPort


@forge("common.signoff-wrong-role@G0", "fail: Compiler team signed for compiler; here only model signs")
def by_the_owner_of_another_role(port: SignedPort) -> None:
    port.signoff("G0.model", "compiler")


@forge("common.signoff-wrong-role@G0", "fail: The key d9aca817 is nobody's")
def by_a_stranger(port: SignedPort) -> None:
    port.signoff("G0.model", "stranger")


@forge("common.signoff-wrong-role@G0", "is nobody's in the registry")
def by_a_key_of_the_root(port: SignedPort) -> None:
    port.signoff("G0.model", "root-1")


@forge("common.signoff-wrong-role@G0", "fail: Model-functionary team signed for model-functionary")
def by_a_functionary(port: SignedPort) -> None:
    port.signoff("G0.model", "model-functionary")


@forge("common.signoff-wrong-role@G0", "is nobody's in the registry")
def by_the_owner_and_a_stranger(port: SignedPort) -> None:
    port.signoff("G0.model", "model", "stranger")


@forge("common.signoff-wrong-role@G0", "fail: Export team signed for export")
def by_the_owner_and_one_of_another_role(port: SignedPort) -> None:
    port.signoff("G0.model", "export", "model")


@forge("common.signoff-wrong-role@G0", "fail: Nobody owns the role model, and somebody signed for it")
def by_the_release_for_an_owner_who_is_missing(port: SignedPort) -> None:
    _without(port, "model")
    port.signoff("G0.model", "release", "release-2")


@forge("common.owner-missing@G0", "fail: Nobody owns the role model")
def for_a_role_that_nobody_owns(port: SignedPort) -> None:
    _without(port, "model")


def _without(port: SignedPort, role: str) -> None:
    registry = port.registry()
    del registry.delegations[role]
    registry.owners = [owner for owner in registry.owners if owner["role"] != role]


@forge("common.signoff-missing@G0", "", exit_code=0)
def by_two_owners_of_two(port: SignedPort) -> None:
    _two(port)
    port.signoff("G0.model", "model", "model-2")


@forge("common.signoff-threshold@G0", "fail: 1 of the 2 owners of model that are needed signed")
def by_one_owner_of_two(port: SignedPort) -> None:
    _two(port)


@forge("common.signoff-threshold@G0", "fail: 1 of the 2 owners of model that are needed signed")
def by_one_owner_with_two_keys(port: SignedPort) -> None:
    _two(port)
    port.authority.delegations["model"] = (["model", "model-2", "model-3"], 2)
    port.authority.owners[0]["keyids"].append(kit.key("model-3").public_key.keyid)
    port.signoff("G0.model", "model", "model-3")


def _two(port: SignedPort) -> None:
    """The model role has two owners, and both have to sign."""
    registry = port.registry()
    registry.owners = [owner for owner in registry.owners if owner["role"] != "model"]
    registry.add("model", ["model", "model-2"], 2)
    registry.owners.insert(0, registry.owners.pop(-2))


@forge("common.signoff-revoked@G0", "is revoked: The laptop was stolen.")
def by_a_revoked_key(port: SignedPort) -> None:
    revoke(port, "model")


@forge("common.signoff-revoked@G0", "is revoked: The laptop was stolen.")
def by_a_good_key_and_a_revoked_one(port: SignedPort) -> None:
    revoke(port, "model")
    port.signoff("G0.model", "model-new", "model")


@forge("common.signoff-missing@G0", "", exit_code=0)
def by_the_key_after_a_revoked_one(port: SignedPort) -> None:
    revoke(port, "model")
    port.signoff("G0.model", "model-new")


def revoke(port: SignedPort, role: str) -> None:
    """Give a role a new key, and revoke its first."""
    registry = port.registry()
    registry.owners = [owner for owner in registry.owners if owner["role"] != role]
    seeds, threshold = registry.delegations[role]
    registry.revoked = [
        {"keyid": kit.key(seeds[0]).public_key.keyid, "date": "2026-11-29", "reason": "The laptop was stolen."}
    ]
    registry.add(role, [f"{role}-new", *seeds[1:]], threshold)


def _signature(port: SignedPort, change: Any) -> None:
    document = port.envelope()
    change(document["signatures"][0])
    port.write(G0, document)


def _over(port: SignedPort, data: bytes, seed: str = "model") -> None:
    """The owner's signature over other bytes than those of the envelope."""
    value = bytes.fromhex(kit.key(seed).sign(data).signature)
    _signature(port, lambda signature: signature.update(sig=base64.b64encode(value).decode()))


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def a_signature_of_zeros(port: SignedPort) -> None:
    _signature(port, lambda signature: signature.update(sig=base64.b64encode(bytes(64)).decode()))


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def a_signature_that_is_cut(port: SignedPort) -> None:
    _signature(port, lambda s: s.update(sig=base64.b64encode(base64.b64decode(s["sig"])[:63]).decode()))


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def over_the_payload_alone(port: SignedPort) -> None:
    _over(port, kit.payload(port.path / G0))


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def over_the_payload_as_another_type(port: SignedPort) -> None:
    payload = kit.payload(port.path / G0)
    _over(port, b"DSSEv1 16 application/json %d %b" % (len(payload), payload))


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def over_an_empty_type(port: SignedPort) -> None:
    payload = kit.payload(port.path / G0)
    _over(port, b"DSSEv1 0  %d %b" % (len(payload), payload))


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def over_another_statement(port: SignedPort) -> None:
    document = port.envelope()
    port.signoff("G0.model", decision="reject", reason="No.")
    port.write(G0, {**document, "signatures": port.envelope()["signatures"]})


@forge("common.signoff-signature-invalid@G0", "fail: The signature of Model team")
def by_a_stranger_in_the_owner_s_name(port: SignedPort) -> None:
    payload = kit.payload(port.path / G0)
    _over(port, b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload), "stranger")


@forge("common.signoff-wrong-role@G0", "is nobody's in the registry")
def under_the_beginning_of_the_key_id(port: SignedPort) -> None:
    _signature(port, lambda signature: signature.update(keyid=signature["keyid"][:8]))


@forge("common.signoff-signature-invalid@G0", "open: Keyless signatures cannot be verified here", exit_code=3)
def a_bundle_where_sigstore_is_not_installed(port: SignedPort) -> None:
    from calaudit.trust.keys import KeylessKey
    from tests.sigstore.loopback import ISSUER, SUBJECT, Loopback

    root = json.dumps(Loopback().trusted_root()).encode()
    registry = port.registry(extra={"sigstore_root_sha256": hashlib.sha256(root).hexdigest()})
    registry.keyless["model"] = KeylessKey.of(SUBJECT, ISSUER)
    port.source = registry.source(sigstore_root=root, seen=port.seen)
    envelope = port.envelope()
    envelope["signatures"][0]["keyid"] = ""
    (port.path / G0).unlink()
    port.write("signoffs/G0.model.1.sigstore.json", {"dsseEnvelope": envelope})
    port.not_installed = ("sigstore.models",)
