"""What changes, in words: a person signs sentences, not a diff of JSON."""

from collections.abc import Iterator
from typing import Any

from tuf.api.metadata import DelegatedRole, Metadata, Root, Targets

from calaudit.sign.registry import extension
from calaudit.trust.keys import identity, is_keyless

__all__ = ["registry_changes", "root_changes"]


def root_changes(new: Root, old: Root | None) -> list[str]:
    """A root against the one before it."""
    before = {} if old is None else old.keys
    lines = [f"+ root key {_key(new, keyid)}" for keyid in sorted(set(new.keys) - set(before))]
    if old is not None:
        lines += [f"- root key {_key(old, keyid)}" for keyid in sorted(set(before) - set(new.keys))]
    role, was = new.roles["root"], None if old is None else old.roles["root"]
    of = f"{role.threshold} of {len(role.keyids)}"
    lines += _changed("threshold", None if was is None else f"{was.threshold} of {len(was.keyids)}", of)
    lines += _changed("expires", None if old is None else f"{old.expires:%Y-%m-%d}", f"{new.expires:%Y-%m-%d}")
    return lines or ["nothing changes but the version"]


def registry_changes(new: Metadata[Targets], old: Metadata[Targets] | None) -> list[str]:
    """A registry against the last one that was published."""
    now, then = extension(new), {} if old is None else extension(old)
    lines = _changed("label", then.get("label"), now["label"])
    lines += [f"+ port {port}" for port in sorted(set(now["ports"]) - set(then.get("ports", ())))]
    lines += [f"- port {port}" for port in sorted(set(then.get("ports", ())) - set(now["ports"]))]
    lines += _owners(new, now, then)
    known = {entry["keyid"] for entry in then.get("revoked", ())}
    for entry in now["revoked"]:
        if entry["keyid"] not in known:
            lines.append(f"! key {entry['keyid'][:8]} is revoked: {entry['reason']}")
    lines += [
        f"! key {keyid[:8]} IS NO LONGER REVOKED" for keyid in sorted(known - {e["keyid"] for e in now["revoked"]})
    ]
    lines += _thresholds(new, old)
    lines += _changed("Sigstore root", then.get("sigstore_root_sha256"), now.get("sigstore_root_sha256"))
    expired = None if old is None else f"{old.signed.expires:%Y-%m-%d}"
    lines += _changed("expires", expired, f"{new.signed.expires:%Y-%m-%d}")
    return lines or ["nothing changes but the version"]


def _owners(new: Metadata[Targets], now: dict[str, Any], then: dict[str, Any]) -> Iterator[str]:
    before = {(e["role"], e["name"]): e for e in then.get("owners", ())}
    after = {(e["role"], e["name"]): e for e in now["owners"]}
    gone = {key: entry for key, entry in before.items() if key not in after}
    for (role, name), entry in after.items():
        was = before.get((role, name)) or _renamed(entry, gone)
        if was is None:
            promise = _promise(entry)
            told = f"{entry['contact']}, keys {_keys(new, entry)}"
            yield f"+ {role}: {name}, {told}{f', {promise}' if promise else ''}"
        elif was != entry:
            gone.pop((role, was["name"]), None)
            old = "" if was["name"] == name else f" (was {was['name']})"
            yield f"~ {role}: {name}{old}{_edits(new, entry, was)}"
    yield from (f"- {role}: {name}" for role, name in sorted(gone))


def _renamed(entry: dict[str, Any], gone: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any] | None:
    """Who had all the keys of an entry under another name."""
    same = (e for e in gone.values() if (e["role"], e["keyids"]) == (entry["role"], entry["keyids"]))
    return next(same, None)


def _edits(new: Metadata[Targets], entry: dict[str, Any], was: dict[str, Any]) -> str:
    """What of an entry is another than it was."""
    lines = _changed("contact", was["contact"], entry["contact"])
    if was["keyids"] != entry["keyids"]:
        lines.append(f"keys {_keys(new, entry)} (was: keys {', '.join(k[:8] for k in was['keyids'])})")
    lines += _changed("promise", _promise(was), _promise(entry))
    return "".join(f", {line}" for line in lines)


def _promise(entry: dict[str, Any]) -> str | None:
    return f"delivers {entry['delivery_version']} on {entry['delivery_date']}" if "delivery_date" in entry else None


def _keys(registry: Metadata[Targets], entry: dict[str, Any]) -> str:
    return ", ".join(_owner_key(registry, keyid) for keyid in entry["keyids"])


def _thresholds(new: Metadata[Targets], old: Metadata[Targets] | None) -> Iterator[str]:
    before = {} if old is None else _roles(old)
    for name, role in sorted(_roles(new).items()):
        was = before.get(name)
        if was is None and role.threshold == 1:
            continue
        yield from _changed(f"threshold of {name}", None if was is None else was.threshold, role.threshold)


def _changed(what: str, old: object, new: object) -> list[str]:
    if old == new:
        return []
    return [f"{what}: {new}" if old is None else f"{what}: {new} (was {old})"]


def _roles(registry: Metadata[Targets]) -> dict[str, DelegatedRole]:
    delegations = registry.signed.delegations
    return {} if delegations is None or delegations.roles is None else delegations.roles


def _key(root: Root, keyid: str) -> str:
    return f"{keyid[:8]} ({root.keys[keyid].scheme})"


def _owner_key(registry: Metadata[Targets], keyid: str) -> str:
    delegations = registry.signed.delegations
    key = None if delegations is None else delegations.keys.get(keyid)
    if key is None or not is_keyless(key):
        return keyid[:8]
    subject, issuer = identity(key)
    return f"{keyid[:8]} ({subject} by {issuer})"
