"""The role registry: who owns which role, with which keys, and how many of them have to sign.

It is a TUF Targets file signed by the root. TUF verifies its signatures; what TUF leaves open is checked beside that:
whether the people behind the keys are who they seem to be, and different ones (``soundness``).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, cast

from securesystemslib.signer import Key
from tuf.api.metadata import Root, Targets

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.model import Kind
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.soundness import unsound
from calaudit.trust.source import TrustSource
from calaudit.trust.tuf_file import TUF_ERRORS, read_metadata

__all__ = ["EXTENSION", "Owner", "Registry", "Role", "read_registry"]

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


def _registry(targets: Targets, extension: Mapping[str, Any], digest: str) -> Registry:
    delegations = targets.delegations
    assert delegations is not None  # noqa: S101 - _read made sure
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
