"""Somebody who is to own a role, and what is refused before they stand in a registry."""

from dataclasses import dataclass
from datetime import date

from securesystemslib.signer import Key

from calaudit.errors import UsageError
from calaudit.facts.source.people import is_named
from calaudit.trust.roles import FUNCTIONARY, ROLES

__all__ = ["NewOwner", "check_owner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOwner:
    """Somebody who is to own a role, with the keys that speak for them.

    ``role`` is one of the seven, or ``<role>-functionary`` for a machine that runs steps. Owners of the seven promise a
    delivery.
    """

    role: str
    name: str
    contact: str
    keys: tuple[Key, ...]
    delivery_date: str | None = None
    delivery_version: str | None = None


def check_owner(owner: NewOwner) -> None:
    """Refuse who cannot be asked.

    Raises:
        UsageError: there is no such role, name or contact say nobody, or a key or a promise is missing.
    """
    role = owner.role.removesuffix(FUNCTIONARY)
    if role not in ROLES:
        raise UsageError(f"There is no role {owner.role!r}; roles are {', '.join(ROLES)}.")
    if not is_named(owner.name):
        raise UsageError(f"{owner.name!r} says nobody: an owner is a person or a team that can be asked by name.")
    if not is_named(owner.contact) or not any(sign in owner.contact for sign in "@:+"):
        raise UsageError(f"{owner.contact!r} reaches nobody: give an address (mailto:…, https://…, tel:…).")
    if not owner.keys:
        raise UsageError("An owner needs a key: --key PEM or URI, --new-key FILE, or --identity with --issuer.")
    if role != owner.role:
        return
    if owner.delivery_date is None or owner.delivery_version is None or not owner.delivery_version.strip():
        raise UsageError("An owner promises what they deliver: give --delivery-date and --delivery-version.")
    try:
        date.fromisoformat(owner.delivery_date)
    except ValueError as error:
        raise UsageError(f"{owner.delivery_date!r} is no date; write 2026-12-01.") from error
