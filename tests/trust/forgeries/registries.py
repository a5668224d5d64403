"""Registries in which somebody counts twice, or that are old, unsigned, or read in two ways."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey

from tests.trust import authority as kit
from tests.trust.authority import Authority
from tests.trust.forgeries import forge
from tests.trust.signed_port import SignedPort

UNSOUND = "port.registry-unsound"
Document = dict[str, Any]


def sign_json(signed: Document, seeds: Sequence[str] = ("root-1", "root-2")) -> bytes:
    """TUF metadata that python-tuf would not make, with good signatures."""
    body = str(encode_canonical(signed)).encode()
    return json.dumps({"signed": signed, "signatures": [kit.key(seed).sign(body).to_dict() for seed in seeds]}).encode()


def rewrite(port: SignedPort, change: Callable[[Document], object], **changes: Any) -> None:
    """Change the registry's JSON, and have the root sign the second version."""
    signed: Document = json.loads(kit.to_bytes(port.registry(**changes).registry()))["signed"]
    change(signed)
    use(port, sign_json(signed, port.authority.signed_by))


def use(port: SignedPort, registry: bytes | None) -> None:
    port.source = port.authority.source(registry=registry, seen=port.seen)


def role_of(signed: Document, name: str) -> Document:
    found: Document = next(role for role in signed["delegations"]["roles"] if role["name"] == name)
    return found


def owner_of(signed: Document, name: str) -> Document:
    found: Document = next(owner for owner in signed["x-calaudit"]["owners"] if owner["role"] == name)
    return found


def add_key(signed: Document, role: str, key: Document, keyid: str, *, owner: str = "Second team") -> None:
    """Give a role one more key, of one more owner."""
    signed["delegations"]["keys"][keyid] = key
    role_of(signed, role)["keyids"].append(keyid)
    signed["x-calaudit"]["owners"].append({**owner_of(signed, role), "name": owner, "keyids": [keyid]})


def ours(seed: str) -> tuple[Document, str]:
    """The public key of a seed as a registry holds it, and its id."""
    public = kit.key(seed).public_key
    return public.to_dict(), public.keyid


@forge("common.signoff-missing@G0", "", exit_code=0)
def a_second_version(port: SignedPort) -> None:
    rewrite(port, lambda _: None)


@forge("port.trust-root-missing", "open: No trust root is pinned", exit_code=3)
def no_root(port: SignedPort) -> None:
    """A registry in the port and beside it is none: what judges it comes from outside."""
    directory = port.path / "trust"
    directory.mkdir()
    (directory / "1.root.json").write_bytes(kit.to_bytes(port.authority.root()))
    (directory / "roles.json").write_bytes(kit.to_bytes(port.authority.registry()))
    shutil.copytree(directory, port.path.parent / "trust")
    shutil.rmtree(directory)
    port.trusts = False


@forge("port.registry-missing", "open: the test's root holds no role registry", exit_code=3)
def no_registry(port: SignedPort) -> None:
    use(port, None)


@forge("port.registry-unsigned", "fail: roles.json version 2 is signed by 1 of the root's keys; the threshold is 2")
def signed_by_one_key_of_the_root(port: SignedPort) -> None:
    port.registry(signed_by=["root-1"])
    port.source = port.authority.source(roots=_first_root(), seen=port.seen)


@forge("port.registry-unsigned", "signed by 1 of the root's keys")
def signed_by_one_key_of_the_root_twice(port: SignedPort) -> None:
    port.registry()
    document = json.loads(kit.to_bytes(port.authority.registry()))
    document["signatures"][1] = {**document["signatures"][0], "keyid": document["signatures"][1]["keyid"]}
    use(port, json.dumps(document).encode())


@forge("port.registry-malformed", "signatures found for keyid")
def signed_twice_under_one_key_id(port: SignedPort) -> None:
    port.registry()
    document = json.loads(kit.to_bytes(port.authority.registry()))
    document["signatures"][1] = document["signatures"][0]
    use(port, json.dumps(document).encode())


@forge("port.registry-unsigned", "fail: roles.json version 2 is signed by 0 of the root's keys")
def signed_by_strangers(port: SignedPort) -> None:
    port.registry(signed_by=["stranger", "stranger-2"])
    port.source = port.authority.source(roots=_first_root(), seen=port.seen)


@forge("port.registry-unsigned", "signed by 0 of the root's keys")
def signed_by_nobody(port: SignedPort) -> None:
    port.registry(signed_by=[])
    port.source = port.authority.source(roots=_first_root(), seen=port.seen)


@forge("port.registry-unsigned", "signed by 0 of the root's keys")
def an_owner_added_after_signing(port: SignedPort) -> None:
    port.registry()
    document = json.loads(kit.to_bytes(port.authority.registry()))
    add_key(document["signed"], "model", *ours("stranger"))
    use(port, json.dumps(document).encode())
    port.signoff("G0.model", "stranger")


def _first_root() -> tuple[tuple[str, bytes], ...]:
    return (("1.root.json", kit.to_bytes(Authority().root())),)


@forge("port.registry-expired", "fail: roles.json version 1 expired on 2027-11-30")
def long_after(port: SignedPort) -> None:
    port.at = datetime(2028, 1, 1, tzinfo=UTC)
    port.authority.root_expires = datetime(2046, 1, 1, tzinfo=UTC)
    port.seen = port.authority.seen()


@forge("port.registry-expired", "fail: roles.json version 2 expired on 2026-11-30")
def at_the_very_second(port: SignedPort) -> None:
    port.registry(expires=kit.NOW)


@forge("port.registry-rollback", "fail: roles.json is version 1; version 3 was seen before")
def older_than_what_was_seen(port: SignedPort) -> None:
    assert port.seen is not None
    port.seen = replace(port.seen, registry_version=3)


@forge("port.registry-rollback", "fail: roles.json is version 1 as the one seen before, and another file")
def another_one_of_the_version_that_was_seen(port: SignedPort) -> None:
    port.authority.ports.append("another-port")


@forge("port.registry-malformed", "fail: roles.json: The key 'threshold' is given twice")
def two_thresholds(port: SignedPort) -> None:
    port.registry()
    text = kit.to_bytes(port.authority.registry())
    at = text.index(b'"threshold": 2') if b'"threshold": 2' in text else text.index(b'"threshold":2')
    use(port, text[:at] + b'"threshold": 1, ' + text[at:])


@forge("port.registry-malformed", "It is TUF metadata of type root, not targets")
def a_root_as_registry(port: SignedPort) -> None:
    use(port, kit.to_bytes(port.authority.root()))


@forge("port.registry-malformed", "fail: roles.json: The file is empty")
def an_empty_registry(port: SignedPort) -> None:
    use(port, b"")


@forge("port.registry-malformed", "which has exactly the members signed and signatures")
def a_registry_with_another_member(port: SignedPort) -> None:
    port.registry()
    document = json.loads(kit.to_bytes(port.authority.registry()))
    use(port, json.dumps({**document, "owners": []}).encode())


@forge("port.registry-malformed", "x-calaudit")
def a_registry_without_owners(port: SignedPort) -> None:
    rewrite(port, lambda signed: signed.pop("x-calaudit"))


@forge("port.registry-malformed", "x-calaudit")
def a_registry_with_a_date_that_is_none(port: SignedPort) -> None:
    rewrite(port, lambda signed: owner_of(signed, "model").update(delivery_date="2026-13-45"))


@forge("port.registry-malformed", "delegates to no roles")
def a_registry_without_delegations(port: SignedPort) -> None:
    rewrite(port, lambda signed: signed.pop("delegations"))


@forge("port.registry-malformed", "fail: roles.json")
def a_registry_with_a_fraction(port: SignedPort) -> None:
    port.registry()
    document = json.loads(kit.to_bytes(port.authority.registry()))
    document["signed"]["x-weight"] = 0.5
    use(port, json.dumps(document).encode())


@forge("port.registry-malformed", "threshold should be at least 1")
def a_threshold_of_zero(port: SignedPort) -> None:
    rewrite(port, lambda signed: role_of(signed, "model").update(threshold=0))


@forge("port.registry-malformed", "threshold should be at least 1")
def a_threshold_below_zero(port: SignedPort) -> None:
    rewrite(port, lambda signed: role_of(signed, "release").update(threshold=-1))


@forge(UNSOUND, "fail: roles.json: release has the threshold 1; a release has at least 2 signers")
def a_release_by_one(port: SignedPort) -> None:
    rewrite(port, lambda signed: role_of(signed, "release").update(threshold=1))


@forge("common.signoff-threshold@G0", "fail: 1 of the 2 owners of model that are needed signed")
def a_threshold_above_the_owners(port: SignedPort) -> None:
    rewrite(port, lambda signed: role_of(signed, "model").update(threshold=2))


@forge(UNSOUND, "holds two roles, export and model")
def one_key_in_two_roles(port: SignedPort) -> None:
    rewrite(port, lambda signed: add_key(signed, "model", *ours("export")))


@forge(UNSOUND, "holds two roles, model and model-functionary")
def an_owner_as_functionary(port: SignedPort) -> None:
    rewrite(port, lambda signed: add_key(signed, "model-functionary", *ours("model")))


@forge(UNSOUND, "is not the digest of its key")
def one_key_under_a_chosen_id(port: SignedPort) -> None:
    rewrite(port, lambda signed: add_key(signed, "model", ours("model")[0], "ab" * 32))


@forge(UNSOUND, "are one key, so it would count twice")
def one_key_as_another_type(port: SignedPort) -> None:
    first = CryptoSigner(ec.derive_private_key(7, ec.SECP256R1())).public_key
    keyval = {"public": first.keyval["public"]}
    second = SSlibKey("", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", keyval)

    def change(signed: Document) -> None:
        for key, owner in ((first, "Second team"), (second, "Third team")):
            add_key(signed, "model", key.to_dict(), kit.key_id(key), owner=owner)

    rewrite(port, change)


@forge(UNSOUND, "fail: roles.json: ")
def one_key_wrapped_otherwise(port: SignedPort) -> None:
    first = CryptoSigner(ec.derive_private_key(7, ec.SECP256R1())).public_key
    text = first.keyval["public"]
    lines = "".join(text.splitlines()[1:-1])
    wrapped = f"-----BEGIN PUBLIC KEY-----\n{lines[:40]}\n{lines[40:80]}\n{lines[80:]}\n-----END PUBLIC KEY-----\n"
    second = SSlibKey("", "ecdsa", "ecdsa-sha2-nistp256", {"public": wrapped})

    def change(signed: Document) -> None:
        for key, owner in ((first, "Second team"), (second, "Third team")):
            add_key(signed, "model", key.to_dict(), kit.key_id(key), owner=owner)

    rewrite(port, change)


@forge(UNSOUND, "fail: roles.json: the key ")
def an_ed25519_key_that_calls_itself_rsa(port: SignedPort) -> None:
    private = kit.key("model")._private_key
    text = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    key = SSlibKey("", "rsa", "rsassa-pss-sha256", {"public": text})
    rewrite(port, lambda signed: add_key(signed, "model", key.to_dict(), kit.key_id(key)))


@forge(UNSOUND, "an RSA key has at least 3072 bits, not 2048")
def a_short_rsa_key(port: SignedPort) -> None:
    key = CryptoSigner(rsa.generate_private_key(65537, 2048)).public_key
    rewrite(port, lambda signed: add_key(signed, "model", key.to_dict(), kit.key_id(key)))


@forge(UNSOUND, "it is a point of small order, or none: anybody can sign with it")
def a_key_that_anybody_signs_with(port: SignedPort) -> None:
    """With the neutral element as public key, the base point and 1 are a signature of every message."""
    public = SSlibKey("", "ed25519", "ed25519", {"public": (1).to_bytes(32, "little").hex()})
    public.keyid = kit.key_id(public)
    value = bytes([0x58] + [0x66] * 31) + (1).to_bytes(32, "little")
    public.verify_signature(Signature(public.keyid, value.hex()), b"whatever")
    rewrite(port, lambda signed: add_key(signed, "model", public.to_dict(), public.keyid))


@forge(UNSOUND, "do not count")
def a_key_of_a_scheme_that_does_not_count(port: SignedPort) -> None:
    private = kit.key("model-2")._private_key
    text = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    key = SSlibKey("", "rsa", "rsa-pkcs1v15-sha256", {"public": text})
    rewrite(port, lambda signed: add_key(signed, "model", key.to_dict(), kit.key_id(key)))


@forge(UNSOUND, "is a root key; a root key owns no role")
def a_key_of_the_root_as_owner(port: SignedPort) -> None:
    rewrite(port, lambda signed: add_key(signed, "model", *ours("root-3")))


@forge(UNSOUND, "names the key")
def a_key_that_is_revoked_and_named(port: SignedPort) -> None:
    rewrite(port, lambda signed: signed["x-calaudit"]["revoked"].append(_revoked(ours("model")[1])))


@forge(UNSOUND, "is revoked")
def a_revoked_key_as_another_type(port: SignedPort) -> None:
    first = CryptoSigner(ec.derive_private_key(7, ec.SECP256R1())).public_key
    second = SSlibKey("", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", {"public": first.keyval["public"]})

    def change(signed: Document) -> None:
        add_key(signed, "model", second.to_dict(), kit.key_id(second))
        signed["x-calaudit"]["revoked"].append(_revoked(kit.key_id(first)))

    rewrite(port, change)


def _revoked(keyid: str) -> Document:
    return {"keyid": keyid, "date": "2026-11-29", "reason": "The laptop was stolen."}


@forge(UNSOUND, "has the owner 'MODEL TEAM' more than once, who would count as several")
def one_owner_under_two_spellings(port: SignedPort) -> None:
    rewrite(port, lambda signed: add_key(signed, "model", *ours("model-2"), owner="MODEL TEAM"))


@forge(UNSOUND, "has 2 owners, not one")
def one_key_with_two_owners(port: SignedPort) -> None:
    rewrite(port, lambda s: s["x-calaudit"]["owners"].append({**owner_of(s, "model"), "name": "Second team"}))


@forge(UNSOUND, "has 0 owners, not one")
def a_key_without_owner(port: SignedPort) -> None:
    def change(signed: Document) -> None:
        key, keyid = ours("model-2")
        signed["delegations"]["keys"][keyid] = key
        role_of(signed, "model")["keyids"].append(keyid)

    rewrite(port, change)


@forge(UNSOUND, "belongs to no role")
def a_key_without_role(port: SignedPort) -> None:
    key, keyid = ours("model-2")
    rewrite(port, lambda signed: signed["delegations"]["keys"].update({keyid: key}))


@forge(UNSOUND, "which is not there")
def a_role_with_a_key_that_is_not_there(port: SignedPort) -> None:
    rewrite(port, lambda signed: role_of(signed, "model")["keyids"].append("ab" * 32))


@forge(UNSOUND, "fail: roles.json: there is no role auditor")
def a_role_that_there_is_not(port: SignedPort) -> None:
    rewrite(port, lambda signed: role_of(signed, "quant").update(name="auditor"))


@forge(UNSOUND, "has keyless owners and pins no Sigstore root")
def a_keyless_owner_without_a_root(port: SignedPort) -> None:
    rewrite(port, lambda signed: add_key(signed, "model", *_keyless()))


@forge(UNSOUND, "a keyless key has an identity and an issuer")
def a_keyless_owner_without_issuer(port: SignedPort) -> None:
    key, _ = _keyless()
    key["keyval"]["issuer"] = " "
    rewrite(port, lambda signed: add_key(signed, "model", key, "ab" * 32))


@forge(UNSOUND, "fail: roles.json: sigstore/trusted_root.json is another one")
def another_sigstore_root(port: SignedPort) -> None:
    port.registry(extra={"sigstore_root_sha256": "00" * 32})
    port.source = port.authority.source(sigstore_root=b"{}", seen=port.seen)


def _keyless() -> tuple[Document, str]:
    from calaudit.trust.keys import KeylessKey

    key = KeylessKey.of("ada@vendor.example", "https://login.vendor.example")
    return key.to_dict(), key.keyid


@forge("common.owner-anonymous@G0", "fail: The owner of model is called 'vendor support': that is nobody")
def an_owner_who_is_nobody(port: SignedPort) -> None:
    rewrite(port, lambda signed: owner_of(signed, "model").update(name="vendor support"))


@forge("common.delivery-date-missing@G0", "fail: Model team, owner of model, has no delivery date")
def an_owner_without_a_date(port: SignedPort) -> None:
    rewrite(port, lambda signed: owner_of(signed, "model").pop("delivery_date"))


@forge("common.delivery-version-missing@G0", "fail: Model team, owner of model, has no delivery version")
def an_owner_without_a_version(port: SignedPort) -> None:
    rewrite(port, lambda signed: owner_of(signed, "model").pop("delivery_version"))


@forge("port.expires-soon", "fail: The registry ends on 2026-12-01, in 0 days", exit_code=0)
def a_registry_that_ends_tomorrow(port: SignedPort) -> None:
    port.registry(expires=datetime(2026, 12, 1, tzinfo=UTC))
