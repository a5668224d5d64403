"""Whether a registry is sound: that no key and no person in it counts twice, whoever signed it."""

import hashlib
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from securesystemslib.signer import Key
from tuf.api.metadata import DelegatedRole, Root, Targets

from calaudit.trust.keys import is_keyless, key_id, material, other_ids
from calaudit.trust.roles import FUNCTIONARY, RELEASE, ROLES
from calaudit.trust.source import TrustSource

__all__ = ["RELEASE_THRESHOLD_MIN", "name_key", "unsound"]

RELEASE_THRESHOLD_MIN = 2
"""One accountable owner and at least one co-signer."""

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f") | {
    chr(c) for c in range(0xFE00, 0xFE10)
}
"""What Unicode lets a name hold unseen, besides the characters of formatting (categories C and Z)."""


def unsound(targets: Targets, extension: Mapping[str, Any], root: Root, source: TrustSource) -> Iterator[str]:
    """Every way in which a registry whose signatures hold could still let somebody count twice, as sentences."""
    delegations = targets.delegations
    assert delegations is not None  # noqa: S101 - whoever read it made sure
    roles = delegations.roles or {}
    allowed = {*ROLES, *(role + FUNCTIONARY for role in ROLES)}
    yield from (f"there is no role {name}; roles are {', '.join(ROLES)}." for name in sorted(set(roles) - allowed))
    revoked = {entry["keyid"] for entry in extension["revoked"]}
    yield from _key_faults(delegations.keys, root, revoked)
    holder: dict[str, str] = {}
    for name, role in sorted(roles.items()):
        for keyid in role.keyids:
            if keyid not in delegations.keys:
                yield f"{name} names the key {keyid[:8]}, which is not there."
            if keyid in revoked:
                yield f"{name} names the key {keyid[:8]}, which is revoked."
            if holder.setdefault(keyid, name) != name:
                yield f"the key {keyid[:8]} holds two roles, {holder[keyid]} and {name}."
        yield from _owner_faults(name, role, extension)
    strays = sorted(set(delegations.keys) - set(holder))
    yield from (f"the key {keyid[:8]} belongs to no role." for keyid in strays)
    for entry in extension["owners"]:
        if entry["role"] not in roles:
            yield f"{entry['name']!r} owns {entry['role']}, a role without keys."
    yield from _keyless_faults(delegations.keys, extension, source)


def name_key(name: str) -> str:
    """What two spellings of one name have in common."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(c for c in folded if unicodedata.category(c)[0] not in "CZ" and c not in _INVISIBLE)


def _key_faults(keys: Mapping[str, Key], root: Root, revoked: Collection[str]) -> Iterator[str]:
    roots = {material(key) for key in root.keys.values()}
    seen: dict[str, str] = {}
    for keyid, key in sorted(keys.items()):
        if keyid != key_id(key):
            yield f"the key id {keyid[:8]} is not the digest of its key."
        try:
            stuff = material(key)
        except ValueError as error:
            yield f"the key {keyid[:8]}: {error}."
            continue
        if not other_ids(key).isdisjoint(revoked):
            yield f"the key {keyid[:8]} is revoked under another id; a key that is spelled otherwise is the same key."
        if stuff in roots:
            yield f"the key {keyid[:8]} is a root key; a root key owns no role."
        if seen.setdefault(stuff, keyid) != keyid:
            yield f"{seen[stuff][:8]} and {keyid[:8]} are one key, so it would count twice."


def _owner_faults(name: str, role: DelegatedRole, extension: Mapping[str, Any]) -> Iterator[str]:
    entries = [entry for entry in extension["owners"] if entry["role"] == name]
    names = [name_key(entry["name"]) for entry in entries]
    for entry, key in zip(entries, names, strict=True):
        if names.count(key) > 1:
            yield f"{name} has the owner {entry['name']!r} more than once, who would count as several."
    owned = [keyid for entry in entries for keyid in entry["keyids"]]
    yield from (
        f"{name}: the key {k[:8]} has {owned.count(k)} owners, not one." for k in role.keyids if owned.count(k) != 1
    )
    yield from (
        f"{name}: an owner has the key {k[:8]}, which is not the role's." for k in owned if k not in role.keyids
    )
    if name == RELEASE and role.threshold < RELEASE_THRESHOLD_MIN:
        yield f"{name} has the threshold {role.threshold}; a release has at least {RELEASE_THRESHOLD_MIN} signers."


def _keyless_faults(keys: Mapping[str, Key], extension: Mapping[str, Any], source: TrustSource) -> Iterator[str]:
    wanted = extension.get("sigstore_root_sha256")
    if wanted is None:
        if any(is_keyless(key) for key in keys.values()):
            yield "it has keyless owners and pins no Sigstore root (sigstore_root_sha256)."
    elif source.sigstore_root is None:
        yield f"sigstore/trusted_root.json is missing; {wanted} is pinned."
    elif hashlib.sha256(source.sigstore_root).hexdigest() != wanted:
        yield f"sigstore/trusted_root.json is another one; {wanted} is pinned."
