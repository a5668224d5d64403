"""Editing what a registry says of an owner who is in it: name, contact, promise. Keys come and go elsewhere."""

from dataclasses import dataclass
from typing import Any

from calaudit.errors import UsageError
from calaudit.sign.owners import NewOwner, check_owner
from calaudit.sign.registry import Registry, extension
from calaudit.trust.roles import FUNCTIONARY
from calaudit.trust.soundness import name_key

__all__ = ["OwnerEdit", "edit_owner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerEdit:
    """What is to be said of an owner from now on; None stays as it is."""

    name: str | None = None
    contact: str | None = None
    delivery_date: str | None = None
    delivery_version: str | None = None

    @property
    def members(self) -> dict[str, str]:
        """What changes, by the member of the registry's entry; without white space around it."""
        found = {member: getattr(self, member) for member in self.__slots__}
        return {member: value.strip() for member, value in found.items() if value is not None}


def edit_owner(registry: Registry, role: str, name: str, edit: OwnerEdit) -> None:
    """Change the entry of the owner called ``name`` in a role.

    Raises:
        UsageError: there is no such owner, nothing changes, the new name is another owner's or says nobody, or the
            promise is none.
    """
    entries = [entry for entry in extension(registry)["owners"] if entry["role"] == role]
    entry = next((e for e in entries if name_key(e["name"]) == name_key(name)), None)
    if entry is None:
        names = ", ".join(e["name"] for e in entries)
        raise UsageError(f"{role} has no owner {name!r}; it has {names or 'none'}. `calaudit trust show` lists them.")
    changed = {**entry, **edit.members}
    if changed == entry:
        raise UsageError(
            f"Nothing changes for {entry['name']} ({role}): give another --name, --contact, --delivery-date or "
            "--delivery-version. Keys come with `calaudit trust add-owner` and go with `calaudit trust revoke`."
        )
    if any(name_key(e["name"]) == name_key(changed["name"]) for e in entries if e is not entry):
        raise UsageError(f"{role} has an owner {changed['name']!r} already; one name is one owner.")
    _check(registry, changed)
    entry.update(changed)
    extension(registry)["owners"].sort(key=lambda e: (e["role"], e["name"]))


def _check(registry: Registry, entry: dict[str, Any]) -> None:
    delegations = registry.signed.delegations
    assert delegations is not None  # noqa: S101 - every registry that was read or made has them
    if entry["role"].endswith(FUNCTIONARY) and {"delivery_date", "delivery_version"} & set(entry):
        raise UsageError(f"{entry['name']} is a machine, which promises no delivery: leave out --delivery-….")
    check_owner(
        NewOwner(
            role=entry["role"],
            name=entry["name"],
            contact=entry["contact"],
            keys=tuple(delegations.keys[keyid] for keyid in entry["keyids"] if keyid in delegations.keys),
            delivery_date=entry.get("delivery_date"),
            delivery_version=entry.get("delivery_version"),
        )
    )
