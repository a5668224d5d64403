"""``trust show``: a trust directory as a document, and that document as text."""

from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from tuf.api.metadata import Metadata, Root, Targets

from calaudit.errors import UsageError
from calaudit.pins import load_directory, read_pin
from calaudit.sign.folder import Folder
from calaudit.sign.opening import open_folder
from calaudit.sign.registry import extension
from calaudit.sign.standing import Standing, registry_standing
from calaudit.sign.summary import registry_changes, root_changes
from calaudit.trust.keys import identity, is_keyless
from calaudit.trust.roles import ROLES

__all__ = ["document", "lines"]

SOON_DAYS = 30


def document(directory: Path | None) -> dict[str, Any]:
    """What there is to say of a trust directory; of the pinned one if None.

    Raises:
        UsageError: nothing is pinned, or the directory does not hold together.
    """
    pin = read_pin()
    if directory is None:
        if pin is None:
            raise UsageError("No root is pinned. Name a trust directory, or pin one: calaudit trust pin DIR")
        directory = pin.source
    folder = open_folder(directory)
    now = datetime.now(UTC)
    pinned = pin is not None and pin.source == directory.absolute()
    return {
        "directory": str(directory),
        "anchor": _anchor(directory),
        "pinned": {"root": pin.anchor[0], "sha256": pin.fingerprint} if pin is not None and pinned else None,
        "root": None if folder.root is None else _root(folder.root.signed, now),
        "registry": None if folder.registry is None else _registry(folder.registry, folder, now),
        "pending": _pending(folder),
    }


def _anchor(directory: Path) -> dict[str, str] | None:
    """The root that would be pinned, to be compared over another way; None where none is published."""
    try:
        name, data = load_directory(directory).roots[0]
    except UsageError:
        return None
    return {"root": name, "sha256": sha256(data).hexdigest()}


def lines(shown: dict[str, Any]) -> Iterator[str]:
    """The document for people."""
    yield shown["directory"]
    if shown["pinned"]:
        yield f"Pinned: {shown['pinned']['root']}, SHA-256 {shown['pinned']['sha256']}"
    elif shown["anchor"]:
        yield f"Not pinned here: {shown['anchor']['root']}, SHA-256 {shown['anchor']['sha256']}"
    root = shown["root"]
    if root is None:
        yield "Root: none is published"
    else:
        yield f"Root: version {root['version']}, {root['threshold']} of {len(root['keys'])} keys, {_ends(root)}"
        yield from (f"  {key['keyid'][:8]} {key['scheme']}" for key in root["keys"])
    registry = shown["registry"]
    if registry is None:
        yield "Registry: none is published"
    else:
        yield from _registry_lines(registry)
    for item in shown["pending"]:
        yield f"Pending: {item['file']} version {item['version']}, {item['missing']} signature(s) missing"
        yield from (f"  {change}" for change in item["changes"])
        yield f"  signed by {', '.join(k[:8] for k in item['signed']) or 'nobody'}"
        if item["wanted"]:
            yield f"  can sign: {', '.join(k[:8] for k in item['wanted'])}"


def _registry_lines(registry: dict[str, Any]) -> Iterator[str]:
    broken = "" if registry["signed"] else " NOT SIGNED AS IT HAS TO BE"
    yield f"Registry: version {registry['version']}, {registry['label']}, {_ends(registry)}{broken}"
    yield f"  ports: {', '.join(registry['ports'])}"
    for role in registry["roles"]:
        if not role["owners"]:
            yield f"  {role['name']}: nobody"
            continue
        yield f"  {role['name']}: {role['threshold']} of {len(role['owners'])}"
        for owner in role["owners"]:
            promise = (
                f", delivers {owner['delivery_version']} on {owner['delivery_date']}" if owner["delivery_date"] else ""
            )
            keys = ", ".join(_key_text(key) for key in owner["keys"])
            yield f"    {owner['name']} <{owner['contact']}>{promise}, keys {keys}"
    for entry in registry["revoked"]:
        yield f"  revoked {entry['keyid'][:8]} on {entry['date']}: {entry['reason']}"


def _key_text(key: dict[str, Any]) -> str:
    who = f" ({key['identity']} by {key['issuer']})" if "identity" in key else ""
    return f"{key['keyid'][:8]}{who}"


def _ends(item: dict[str, Any]) -> str:
    days = item["days_left"]
    if days < 0:
        return f"EXPIRED on {item['expires'][:10]}"
    return f"expires {item['expires'][:10]}" + (f" (IN {days} DAYS)" if days < SOON_DAYS else "")


def _root(root: Root, now: datetime) -> dict[str, Any]:
    role = root.roles["root"]
    return {
        "version": root.version,
        "threshold": role.threshold,
        **_expiry(root.expires, now),
        "keys": [{"keyid": keyid, "scheme": root.keys[keyid].scheme} for keyid in sorted(role.keyids)],
    }


def _registry(registry: Metadata[Targets], folder: Folder, now: datetime) -> dict[str, Any]:
    members = extension(registry)
    root = folder.root
    return {
        "version": registry.signed.version,
        "label": members["label"],
        "ports": members["ports"],
        **_expiry(registry.signed.expires, now),
        "signed": root is not None and registry_standing(registry, root.signed).complete,
        "roles": list(_roles(registry)),
        "revoked": members["revoked"],
    }


def _roles(registry: Metadata[Targets]) -> Iterator[dict[str, Any]]:
    delegations = registry.signed.delegations
    roles = {} if delegations is None else delegations.roles or {}
    keys = {} if delegations is None else delegations.keys
    for name in [*ROLES, *sorted(set(roles) - set(ROLES))]:
        owners = [
            {
                "name": entry["name"],
                "contact": entry["contact"],
                "delivery_date": entry.get("delivery_date"),
                "delivery_version": entry.get("delivery_version"),
                "keys": [_key(keyid, keys.get(keyid)) for keyid in entry["keyids"]],
            }
            for entry in extension(registry)["owners"]
            if entry["role"] == name
        ]
        yield {"name": name, "threshold": roles[name].threshold if name in roles else None, "owners": owners}


def _key(keyid: str, key: Any) -> dict[str, Any]:
    if key is None:
        return {"keyid": keyid, "scheme": None}
    told = {"keyid": keyid, "scheme": key.scheme}
    if is_keyless(key):
        told["identity"], told["issuer"] = identity(key)
    return told


def _expiry(expires: datetime, now: datetime) -> dict[str, Any]:
    return {"expires": f"{expires:%Y-%m-%dT%H:%M:%SZ}", "days_left": (expires - now).days}


def _pending(folder: Folder) -> list[dict[str, Any]]:
    found = []
    root, registry = folder.standing_of_root(), folder.standing_of_registry()
    if folder.next_root is not None and root is not None:
        changes = root_changes(folder.next_root.signed, folder.root.signed if folder.root else None)
        name = f"{folder.next_root.signed.version}.root.json"
        found.append(_waiting(name, folder.next_root.signed.version, changes, root))
    if folder.next_registry is not None and registry is not None:
        changes = registry_changes(folder.next_registry, folder.registry)
        found.append(_waiting("roles.json", folder.next_registry.signed.version, changes, registry))
    return found


def _waiting(name: str, version: int, changes: list[str], standing: Standing) -> dict[str, Any]:
    return {
        "file": name,
        "version": version,
        "missing": standing.missing,
        "signed": list(standing.signed),
        "wanted": list(standing.wanted),
        "changes": changes,
    }
