"""``trust sign``: one more signature under what waits."""

from pathlib import Path

from calaudit.cli._keys import say
from calaudit.cli._trust_common import finish, schemas, tell_waiting
from calaudit.errors import UsageError
from calaudit.sign.folder import Folder
from calaudit.sign.metadata import sign
from calaudit.sign.opening import open_folder
from calaudit.sign.passphrases import Passphrases
from calaudit.sign.signers import load_signer
from calaudit.sign.soundness import check_registry, check_root

__all__ = ["sign_pending", "waiting"]


def waiting(directory: Path) -> Folder | None:
    """A trust directory in which something waits, which is told and found sound; None where nothing does.

    Raises:
        UsageError: verification would refuse what waits, so nobody should sign it.
    """
    folder = open_folder(directory)
    if folder.next_root is None and folder.next_registry is None:
        return None
    tell_waiting(folder)
    if folder.next_root is not None:
        check_root(folder.next_root.signed)
    if folder.next_registry is not None:
        check_registry(folder.next_registry, folder.coming_root, folder.coming_sigstore_root, schemas())
        if folder.next_registry.signed.version <= folder.registry_version:
            raise UsageError("The registry that waits is no newer than the published one; do not sign it.")
    return folder


def sign_pending(folder: Folder, uri: str, passphrases: Passphrases) -> int:
    """Sign every file in which the key has a place.

    Raises:
        UsageError: it has a place in none, or signed all of them before.
    """
    signer = load_signer(uri, passphrases)
    keyid = signer.public_key.keyid
    root, registry = folder.standing_of_root(), folder.standing_of_registry()
    may = [standing.may_sign(keyid) for standing in (root, registry) if standing is not None]
    if not any(may):
        raise UsageError(f"The key {keyid[:8]} has no place in what waits; root keys sign it.")
    signed = []
    if folder.next_root is not None and root is not None and root.may_sign(keyid) and keyid not in root.signed:
        folder.write_root(sign(folder.next_root, signer))
        signed.append(f"{folder.next_root.signed.version}.root.json")
    if (
        folder.next_registry is not None
        and registry is not None
        and registry.may_sign(keyid)
        and keyid not in registry.signed
    ):
        folder.write_registry(sign(folder.next_registry, signer))
        signed.append("roles.json")
    if signed:
        say(f"Signed {' and '.join(signed)} with the key {keyid[:8]}.")
    else:
        say(f"The key {keyid[:8]} has signed already.")
    return finish(folder.path, changes=False)
