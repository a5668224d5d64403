"""``trust add-owner``, ``edit-owner``, ``revoke`` and ``set``: edits of the role registry."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from securesystemslib.signer import Key

from calaudit.cli._keys import say
from calaudit.cli._trust_common import Keys, finish, schemas
from calaudit.errors import UsageError
from calaudit.pins.directory import read_file
from calaudit.sign.folder import Folder
from calaudit.sign.key_files import read_public
from calaudit.sign.metadata import expiry, sign
from calaudit.sign.opening import open_folder
from calaudit.sign.owner_edit import OwnerEdit, edit_owner
from calaudit.sign.owners import NewOwner, check_owner
from calaudit.sign.passphrases import Passphrases
from calaudit.sign.registry import Registry, add_owner, revoke, settings, successor
from calaudit.sign.signers import load_signer
from calaudit.sign.soundness import check_new_key, check_registry
from calaudit.sign.standing import registry_standing
from calaudit.trust.keys import KeylessKey

__all__ = ["Appointment", "amend", "appoint", "change_settings", "withdraw_keys"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Appointment:
    """What the command line says of a new owner, apart from keys in files."""

    role: str
    name: str
    contact: str
    delivery_date: str | None
    delivery_version: str | None
    identity: str | None
    issuer: str | None
    sigstore_root: Path | None
    threshold: int | None


def appoint(directory: Path, who: Appointment, keys: Keys, sign_with: Sequence[str], passphrases: Passphrases) -> int:
    """``trust add-owner``."""
    folder, registry = _edited(directory)
    keys.check(directory)
    _check_promises(who)
    sigstore = _sigstore(folder, who)
    public = [_public(name, passphrases) for name in keys.held] + _keyless(who)
    made = [signer.public_key for signer in keys.make(passphrases)]
    for key in (*public, *made):
        check_new_key(key, registry, folder.coming_root)
    owner = _owner(who, (*public, *made))
    add_owner(registry, owner, threshold=who.threshold)
    if sigstore is not None:
        settings(registry, sigstore_root_sha256=hashlib.sha256(sigstore).hexdigest())
        folder.write_sigstore_root(sigstore)
    return _propose(directory, folder, registry, sign_with, passphrases)


def amend(  # noqa: PLR0913 - whom it edits, by name
    directory: Path, edit: OwnerEdit, sign_with: Sequence[str], passphrases: Passphrases, *, role: str, name: str
) -> int:
    """``trust edit-owner``."""
    folder, registry = _edited(directory)
    edit_owner(registry, role, name, edit)
    return _propose(directory, folder, registry, sign_with, passphrases)


def withdraw_keys(directory: Path, who: str, reason: str, sign_with: Sequence[str], passphrases: Passphrases) -> int:
    """``trust revoke``."""
    folder, registry = _edited(directory)
    gone = revoke(registry, who, reason=reason, today=datetime.now(UTC).date())
    say(f"Revoked: {', '.join(keyid[:8] for keyid in gone)}. It counts once the registry is signed.")
    return _propose(directory, folder, registry, sign_with, passphrases)


def change_settings(  # noqa: PLR0913 - one parameter a setting
    directory: Path,
    sign_with: Sequence[str],
    passphrases: Passphrases,
    *,
    add_ports: tuple[str, ...],
    remove_ports: tuple[str, ...],
    expires: str | None,
    label: str | None,
) -> int:
    """``trust set``."""
    folder, registry = _edited(directory)
    end = expiry(expires, datetime.now(UTC))
    settings(registry, add_ports=add_ports, remove_ports=remove_ports, expires=end, label=label)
    return _propose(directory, folder, registry, sign_with, passphrases)


def _edited(directory: Path) -> tuple[Folder, Registry]:
    folder = open_folder(directory)
    return folder, successor(folder.coming_registry, folder.registry_version)


def _propose(
    directory: Path, folder: Folder, registry: Registry, sign_with: Sequence[str], passphrases: Passphrases
) -> int:
    """Let an edited registry wait, signed by the root keys at hand."""
    signers = [load_signer(uri, passphrases) for uri in sign_with]
    if signers:
        check_registry(registry, folder.coming_root, open_folder(directory).coming_sigstore_root, schemas())
    for signer in signers:
        if not registry_standing(registry, folder.coming_root).may_sign(signer.public_key.keyid):
            raise UsageError(f"{signer.public_key.keyid[:8]} is no root key; it cannot sign the registry.")
        registry = sign(registry, signer)
    folder.write_registry(registry)
    return finish(directory)


def _check_promises(who: Appointment) -> None:
    """Refuse before a key is made; any key stands for those to come."""
    check_owner(_owner(who, (KeylessKey.of("somebody", "somewhere"),)))
    if (who.identity is None) != (who.issuer is None):
        raise UsageError("A keyless owner needs both --identity and --issuer: half an identity is anybody's.")


def _owner(who: Appointment, keys: tuple[Key, ...]) -> NewOwner:
    return NewOwner(
        role=who.role,
        name=who.name.strip(),
        contact=who.contact.strip(),
        keys=keys,
        delivery_date=who.delivery_date,
        delivery_version=who.delivery_version,
    )


def _keyless(who: Appointment) -> list[Key]:
    if who.identity is None or who.issuer is None:
        return []
    if not who.identity.strip() or not who.issuer.startswith("https://"):
        raise UsageError("--identity says who, --issuer the https:// address of who vouches for them.")
    return [KeylessKey.of(who.identity, who.issuer)]


def _sigstore(folder: Folder, who: Appointment) -> bytes | None:
    if who.sigstore_root is not None:
        return read_file(who.sigstore_root)
    if who.identity is not None and folder.coming_sigstore_root is None:
        raise UsageError("The first keyless owner needs --sigstore-root: the trusted_root.json that vouches for logs.")
    return None


def _public(name: str, passphrases: Passphrases) -> Key:
    """The public key in a PEM file, or that of whatever else a URI names."""
    path = Path(name)
    if path.is_file() and b"PRIVATE KEY" not in read_file(path):
        return read_public(path)
    return load_signer(name, passphrases).public_key
