"""``trust init`` and ``trust rotate``: the first root, and the one that follows."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tuf.api.metadata import Root

from calaudit.cli._keys import say
from calaudit.cli._trust_common import Keys, finish, schemas
from calaudit.errors import UsageError
from calaudit.sign.folder import PENDING, Folder
from calaudit.sign.metadata import draft, expiry, sign
from calaudit.sign.opening import open_folder
from calaudit.sign.passphrases import Passphrases
from calaudit.sign.registry import Registry, new_registry, successor
from calaudit.sign.roots import first_root, fitting_threshold, next_root, next_threshold, remaining
from calaudit.sign.signers import load_signer
from calaudit.sign.soundness import check_registry, check_root
from calaudit.sign.standing import registry_standing

__all__ = ["begin", "succeed"]

_FEW = 3
"""With fewer root keys than this, one person or one accident decides."""


def begin(  # noqa: PLR0913 - a directory, its keys, and each setting by name
    directory: Path,
    keys: Keys,
    passphrases: Passphrases,
    *,
    threshold: int | None,
    expires: str | None,
    ports: tuple[str, ...],
    label: str,
) -> int:
    """``trust init``."""
    folder = open_folder(directory, new=True)
    keys.check(directory)
    end = expiry(expires, datetime.now(UTC))
    wanted = fitting_threshold(keys.count, threshold)
    registry = new_registry(label=label, ports=ports, expires=end)
    publics = keys.publics()
    signers = keys.signers(passphrases)
    root = first_root([*(s.public_key for s in signers), *publics], threshold=wanted, expires=end)
    check_registry(registry, root.signed, None, schemas())
    for signer in signers:
        root, registry = sign(root, signer), sign(registry, signer)
    folder.write_root(root)
    folder.write_registry(registry)
    if keys.count < _FEW:
        say(f"Note: with {keys.count} root key(s) one loss or one theft decides. Two of three is a better beginning.")
    return finish(directory)


def succeed(  # noqa: PLR0913 - as above
    directory: Path,
    keys: Keys,
    passphrases: Passphrases,
    *,
    remove: tuple[str, ...],
    threshold: int | None,
    expires: str | None,
    replace_pending: bool,
) -> int:
    """``trust rotate``."""
    folder = open_folder(directory)
    keys.check(directory)
    published = folder.root
    if published is None or (folder.next_root is not None and not replace_pending):
        raise UsageError(
            f"{directory / PENDING} holds a root that waits for signatures. Sign it, or say --replace-pending."
        )
    if replace_pending:
        folder = replace(folder, next_root=None, next_registry=None, next_sigstore_root=None)
    current = published.signed
    end = expiry(expires, datetime.now(UTC))
    # A key that stays may be named to sign; one that is new comes in.
    held = [load_signer(uri, passphrases) for uri in keys.held]
    publics = [key for key in keys.publics() if key.keyid not in current.keys]
    coming = [s.public_key for s in held if s.public_key.keyid not in current.keys]
    staying, more = len(remaining(current, remove)), len(publics) + len(coming) + len(keys.new)
    same = not more and staying == len(current.keys)
    next_threshold(current, staying + more, threshold, same=same)  # before keys are made
    made = keys.make(passphrases)
    add = [*publics, *coming, *(s.public_key for s in made)]
    root = next_root(current, add=add, remove=remove, threshold=threshold, expires=end)
    check_root(root.signed)
    registry = _to_sign_again(folder, root.signed)
    if registry is not None:
        check_registry(registry, root.signed, folder.coming_sigstore_root, schemas())
    for signer in (*held, *made):
        root = sign(root, signer)
        if registry is not None and signer.public_key.keyid in root.signed.keys:
            registry = sign(registry, signer)
    if replace_pending:
        folder.withdraw()
    folder.write_root(root)
    if registry is not None:
        folder.write_registry(registry)
    return finish(directory)


def _to_sign_again(folder: Folder, root: Root) -> Registry | None:
    """The registry that has to be published with a new root; None where the new keys have signed the one there is."""
    if folder.next_registry is not None:
        return folder.next_registry
    if folder.registry is None or registry_standing(folder.registry, root).complete:
        return None
    # One more signature would make another file of the same version: the next version, with the same content.
    return successor(draft(folder.registry), folder.registry_version)
