"""The role registry: who owns which role, with which keys, and how many of them have to sign.

It is a TUF Targets file signed by the root. TUF verifies its signatures; what TUF leaves open is checked here: whether
the people behind the keys are who they seem to be, and different ones.
"""

import hashlib
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, cast

from securesystemslib.signer import Key
from tuf.api.metadata import DelegatedRole, Root, Targets

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.model import Kind
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.keys import is_keyless, key_id, material, other_ids
from calaudit.trust.roles import FUNCTIONARY, RELEASE, ROLES
from calaudit.trust.source import TrustSource
from calaudit.trust.tuf_file import TUF_ERRORS, read_metadata

__all__ = ["FUNCTIONARY", "RELEASE", "ROLES", "Owner", "Registry", "Role", "name_key", "read_registry", "unsound"]

RELEASE_THRESHOLD_MIN = 2
"""One accountable owner and at least one co-signer (03, "Pieces")."""

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f") | {
    chr(c) for c in range(0xFE00, 0xFE10)
}
"""What Unicode lets a name hold unseen, besides the characters of formatting (categories C and Z)."""

EXTENSION = "x-calaudit"
_FILE = "roles.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A person or a team that answers for a role, and what it promised."""

    name: str
    contact: str
    keyids: frozenset[str]
    delivery_date: date | None
    delivery_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The keys that speak for a role; ``threshold`` of them, of as many different owners, have to."""

    name: str
    keys: Mapping[str, Key]
    threshold: int
    owners: tuple[Owner, ...]

    def owner_of(self, keyid: str) -> Owner:
        """The owner of one of the role's keys."""
        return next(owner for owner in self.owners if keyid in owner.keyids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """A sound registry. ``digest`` is the SHA-256 of its file; ``revoked`` are key ids that no longer count."""

    version: int
    digest: str
    expires: datetime
    label: str
    ports: frozenset[str]
    roles: Mapping[str, Role]
    revoked: Mapping[str, str]

    def role(self, name: str) -> Role | None:
        """A role that has keys; None while nobody owns it."""
        return self.roles.get(name)


def read_registry(
    source: TrustSource, root: Root, now: datetime, schemas: Schemas
) -> tuple[Registry | None, list[Fault]]:
    """The registry, or what is wrong with it; a registry with a fault speaks for nobody.

    Raises:
        Refused: a step failed after which no other makes sense.
    """
    data = source.registry
    if data is None:
        message = f"{source.origin} holds no role registry ({_FILE})."
        raise Refused("registry-missing", message, kind=Kind.OPEN)
    # 1. It is TUF metadata with our extension, whole and in one reading.
    targets, extension, signed_bytes, signatures = _read(data, schemas)
    # 2. The root's threshold signed it.
    try:
        result = root.get_verification_result("targets", signed_bytes, signatures)
    except TUF_ERRORS as error:
        raise Refused("registry-unsigned", f"The signatures of {_FILE} cannot be verified ({error}).") from error
    if not result.verified:
        raise Refused(
            "registry-unsigned",
            f"{_FILE} version {targets.version} is signed by {len(result.signed)} of the root's keys; the threshold is "
            f"{result.threshold}.",
            expected=str(result.threshold),
            actual=str(len(result.signed)),
        )
    # 3. It is not older than what was seen, nor another one of the same version.
    digest = hashlib.sha256(data).hexdigest()
    _not_rolled_back(source, targets, digest)
    # 4. It is alive.
    if targets.is_expired(now):
        raise Refused("registry-expired", f"{_FILE} version {targets.version} expired on {targets.expires:%Y-%m-%d}.")
    # 5. It is sound: every way in which a key or a person could count twice.
    faults = list(unsound(targets, extension, root, source))
    if faults:
        return None, [Fault(rule="registry-unsound", message=f"{_FILE}: {message}") for message in faults]
    return _registry(targets, extension, digest), []


def name_key(name: str) -> str:
    """What two spellings of one name have in common."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(c for c in folded if unicodedata.category(c)[0] not in "CZ" and c not in _INVISIBLE)


def _read(data: bytes, schemas: Schemas) -> tuple[Targets, dict[str, Any], bytes, dict[str, Any]]:
    try:
        metadata = read_metadata(data, Targets)
    except Malformed as error:
        raise Refused("registry-malformed", f"{_FILE}: {error.message}") from error
    targets = metadata.signed
    extension = targets.unrecognized_fields.get(EXTENSION)
    for problem in schemas.errors("registry/v1", extension):
        raise Refused("registry-malformed", f"{_FILE}#/signed/{EXTENSION}{problem.pointer}: {problem.message}")
    if targets.delegations is None or targets.delegations.roles is None:
        raise Refused("registry-malformed", f"{_FILE} delegates to no roles (delegations.roles).")
    # python-tuf takes what it is given: a name that is a number, `true` as a threshold, a text as a list of key ids.
    for name, role in targets.delegations.roles.items():
        ids: object = role.keyids
        if (
            not isinstance(name, str)
            or not isinstance(ids, list)
            or not all(isinstance(keyid, str) for keyid in ids)
            or type(role.threshold) is not int
        ):
            raise Refused("registry-malformed", f"{_FILE}: the role {name!r} has no name, key ids or threshold.")
    return targets, cast("dict[str, Any]", extension), metadata.signed_bytes, metadata.signatures


def _not_rolled_back(source: TrustSource, targets: Targets, digest: str) -> None:
    seen = source.seen
    if seen is None:
        return
    if targets.version < seen.registry_version:
        raise Refused(
            "registry-rollback",
            f"{_FILE} is version {targets.version}; version {seen.registry_version} was seen before.",
            expected=f"version {seen.registry_version} or newer",
            actual=f"version {targets.version}",
        )
    if targets.version == seen.registry_version and digest != seen.registry_sha256:
        raise Refused(
            "registry-rollback",
            f"{_FILE} is version {targets.version} as the one seen before, and another file: two histories.",
            expected=seen.registry_sha256,
            actual=digest,
        )


def unsound(targets: Targets, extension: Mapping[str, Any], root: Root, source: TrustSource) -> Iterator[str]:
    """Every way in which a registry whose signatures hold could still let somebody count twice, as sentences."""
    delegations = targets.delegations
    assert delegations is not None  # noqa: S101 - _read made sure
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


def _registry(targets: Targets, extension: Mapping[str, Any], digest: str) -> Registry:
    delegations = targets.delegations
    assert delegations is not None  # noqa: S101 - as above
    roles = {
        name: Role(
            name=name,
            keys=MappingProxyType({keyid: delegations.keys[keyid] for keyid in role.keyids}),
            threshold=role.threshold,
            owners=tuple(_owner(entry) for entry in extension["owners"] if entry["role"] == name),
        )
        for name, role in sorted((delegations.roles or {}).items())
        if role.keyids
    }
    return Registry(
        version=targets.version,
        digest=digest,
        expires=targets.expires,
        label=extension["label"],
        ports=frozenset(extension["ports"]),
        roles=MappingProxyType(roles),
        revoked=MappingProxyType({entry["keyid"]: entry["reason"] for entry in extension["revoked"]}),
    )


def _owner(entry: Mapping[str, Any]) -> Owner:
    given = entry.get("delivery_date")
    return Owner(
        name=entry["name"],
        contact=entry["contact"],
        keyids=frozenset(entry["keyids"]),
        delivery_date=None if given is None else date.fromisoformat(given),
        delivery_version=entry.get("delivery_version"),
    )
