"""Edits of the role registry: each gives an unsigned next version.

What would make a registry unsound is refused when it is written, by the checks that will judge it.
"""

import copy
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, cast

from tuf.api.metadata import DelegatedRole, Delegations, Metadata, Targets

from calaudit.errors import UsageError
from calaudit.sign.owners import NewOwner, check_owner
from calaudit.trust.registry import EXTENSION
from calaudit.trust.roles import FUNCTIONARY, RELEASE
from calaudit.trust.soundness import RELEASE_THRESHOLD_MIN, name_key

__all__ = ["add_owner", "extension", "new_registry", "revoke", "settings", "successor"]

TAG = "calaudit-registry/v1"

Registry = Metadata[Targets]


def new_registry(*, label: str, ports: Sequence[str], expires: datetime) -> Registry:
    """Version 1, unsigned, in which nobody owns anything yet."""
    members = {"schema": TAG, "label": label, "ports": sorted(set(ports)), "owners": [], "revoked": []}
    return Metadata(
        Targets(version=1, expires=expires, delegations=Delegations({}, {}), unrecognized_fields={EXTENSION: members})
    )


def extension(registry: Registry) -> dict[str, Any]:
    """Our part of the registry."""
    return cast("dict[str, Any]", registry.signed.unrecognized_fields[EXTENSION])


def successor(registry: Registry, published: int) -> Registry:
    """A copy to edit, of a version above what is published and above whatever anybody signed."""
    signed = copy.deepcopy(registry.signed)
    if registry.signatures or signed.version <= published:
        signed.version += 1
    return Metadata(signed)


def add_owner(registry: Registry, owner: NewOwner, *, threshold: int | None = None) -> None:
    """Let somebody own a role; an owner of the same name in that role gets the keys besides theirs.

    Raises:
        UsageError: the name says nobody, a promise is missing, or a key is revoked or has a role already.
    """
    check_owner(owner)
    members = extension(registry)
    delegations = _delegations(registry)
    revoked = {entry["keyid"] for entry in members["revoked"]}
    for key in owner.keys:
        holder = next((name for name, role in _roles(registry).items() if key.keyid in role.keyids), None)
        if key.keyid in revoked:
            raise UsageError(f"The key {key.keyid[:8]} is revoked; it can own nothing any more.")
        if holder is not None:
            raise UsageError(f"The key {key.keyid[:8]} speaks for {holder} already; a key has one role.")
        delegations.keys[key.keyid] = key
    role = _roles(registry).setdefault(owner.role, _new_role(owner.role))
    role.keyids.extend(key.keyid for key in owner.keys)
    role.threshold = _threshold(owner.role, threshold, role.threshold)
    people = {name_key(e["name"]) for e in members["owners"] if e["role"] == owner.role} | {name_key(owner.name)}
    if threshold is not None and threshold > len(people):
        raise UsageError(f"The threshold of {owner.role} cannot be {threshold}: it has {len(people)} owner(s).")
    entry = next((e for e in members["owners"] if _is(e, owner)), None)
    if entry is None:
        entry = {"name": owner.name, "role": owner.role, "keyids": []}
        members["owners"].append(entry)
    entry["contact"] = owner.contact
    entry["keyids"] = sorted([*entry["keyids"], *(key.keyid for key in owner.keys)])
    for member in ("delivery_date", "delivery_version"):
        if getattr(owner, member) is not None:
            entry[member] = getattr(owner, member)
    members["owners"].sort(key=lambda e: (e["role"], e["name"]))


def revoke(registry: Registry, who: str, *, reason: str, today: date) -> tuple[str, ...]:
    """Take keys from whatever they speak for and list them as revoked, for good.

    ``who`` is a key id, 8 or more digits of one, or the name of an owner. Returns the key ids.

    Raises:
        UsageError: nothing is named, or no reason is given.
    """
    if not reason.strip():
        raise UsageError("A revocation needs a reason: others decide by it what to look at again.")
    members = extension(registry)
    keyids = _keys_of(registry, who)
    delegations = _delegations(registry)
    for keyid in keyids:
        delegations.keys.pop(keyid)
        members["revoked"].append({"keyid": keyid, "date": today.isoformat(), "reason": reason.strip()})
    members["revoked"].sort(key=lambda e: e["keyid"])
    for name, role in list(_roles(registry).items()):
        role.keyids = [keyid for keyid in role.keyids if keyid not in keyids]
        if not role.keyids:
            del _roles(registry)[name]
    for entry in members["owners"]:
        entry["keyids"] = [keyid for keyid in entry["keyids"] if keyid not in keyids]
    members["owners"] = [entry for entry in members["owners"] if entry["keyids"]]
    return keyids


def settings(  # noqa: PLR0913 - one parameter a setting
    registry: Registry,
    *,
    add_ports: Sequence[str] = (),
    remove_ports: Sequence[str] = (),
    expires: datetime | None = None,
    label: str | None = None,
    sigstore_root_sha256: str | None = None,
) -> None:
    """Change what belongs to no owner.

    Raises:
        UsageError: a port to remove is not there.
    """
    members = extension(registry)
    unknown = sorted(set(remove_ports) - set(members["ports"]))
    if unknown:
        raise UsageError(
            f"The registry has no port {', '.join(unknown)}; it has {', '.join(members['ports']) or 'none'}."
        )
    members["ports"] = sorted({*members["ports"], *add_ports} - set(remove_ports))
    if expires is not None:
        registry.signed.expires = expires
    if label is not None:
        members["label"] = label
    if sigstore_root_sha256 is not None:
        members["sigstore_root_sha256"] = sigstore_root_sha256


def _threshold(role: str, wanted: int | None, current: int) -> int:
    found = current if wanted is None else wanted
    least = RELEASE_THRESHOLD_MIN if role == RELEASE else 1
    if found < least:
        raise UsageError(f"The threshold of {role} is at least {least}, not {found}.")
    return found


def _new_role(name: str) -> DelegatedRole:
    owner = name.removesuffix(FUNCTIONARY)
    paths = ["attestations/*"] if owner != name else [f"signoffs/*.{name}.*"]
    return DelegatedRole(name, [], RELEASE_THRESHOLD_MIN if name == RELEASE else 1, True, paths=paths)  # noqa: FBT003


def _keys_of(registry: Registry, who: str) -> tuple[str, ...]:
    entries = extension(registry)["owners"]
    owned = [k for e in entries if name_key(e["name"]) == name_key(who) for k in e["keyids"]]
    if owned:
        return tuple(sorted(set(owned)))
    hits = [keyid for keyid in _delegations(registry).keys if len(who) >= 8 and keyid.startswith(who)]
    if len(hits) != 1:
        raise UsageError(
            f"{who!r} names {len(hits) or 'no'} key(s) of the registry; give an owner's name, or at least 8 digits of "
            "a key id (`calaudit trust show` lists them). Root keys go with `calaudit trust rotate --remove-key`."
        )
    return (hits[0],)


def _is(entry: dict[str, Any], owner: NewOwner) -> bool:
    return entry["role"] == owner.role and name_key(entry["name"]) == name_key(owner.name)


def _delegations(registry: Registry) -> Delegations:
    delegations = registry.signed.delegations
    assert delegations is not None  # noqa: S101 - every registry that was read or made has them
    return delegations


def _roles(registry: Registry) -> dict[str, DelegatedRole]:
    roles = _delegations(registry).roles
    assert roles is not None  # noqa: S101 - as above
    return roles
