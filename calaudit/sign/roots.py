"""Root metadata: the first root, and the one that follows."""

import copy
from collections.abc import Iterable, Sequence
from datetime import datetime

from securesystemslib.signer import Key
from tuf.api.metadata import TOP_LEVEL_ROLE_NAMES, Metadata, Root

from calaudit.errors import UsageError
from calaudit.trust.keys import is_keyless, material

__all__ = ["first_root", "fitting_threshold", "next_root", "next_threshold", "remaining"]

_MANY = 3
"""From so many keys on, one of them alone must not be enough."""


def fitting_threshold(keys: int, wanted: int | None) -> int:
    """The threshold of so many keys; more than half by default: 1 of 1, 2 of 2, 2 of 3, 3 of 4, 3 of 5.

    Raises:
        UsageError: there is no key, or ``wanted`` does not fit.
    """
    if keys < 1:
        raise UsageError("A root needs a key: make one (--new-key FILE), or name one (--key URI, --public-key PEM).")
    found = keys // 2 + 1 if wanted is None else wanted
    if not 1 <= found <= keys:
        raise UsageError(f"A threshold of {found} does not fit {keys} root key(s).")
    if keys >= _MANY and found < 2:
        raise UsageError(f"With {keys} root keys the threshold is at least 2: one stolen key must not be enough.")
    return found


def first_root(keys: Sequence[Key], *, threshold: int | None, expires: datetime) -> Metadata[Root]:
    """Version 1, unsigned.

    Raises:
        UsageError: no key, a key twice, or a threshold that does not fit them.
    """
    root = Root(version=1, expires=expires)
    _assign(root, keys, threshold)
    return Metadata(root)


def next_root(
    current: Root, *, add: Sequence[Key], remove: Iterable[str], threshold: int | None, expires: datetime
) -> Metadata[Root]:
    """The following version, unsigned: keys added and removed, and all four TUF roles by the same keys.

    ``remove`` are key ids or beginnings of them (8 digits or more).

    Raises:
        UsageError: as :func:`first_root`, or ``remove`` names no key.
    """
    keys = [*remaining(current, remove), *add]
    same = not add and len(keys) == len(current.keys)
    threshold = next_threshold(current, len(keys), threshold, same=same)
    root = copy.deepcopy(current)
    root.version += 1
    root.expires = expires
    root.keys.clear()
    _assign(root, keys, threshold)
    return Metadata(root)


def next_threshold(current: Root, keys: int, wanted: int | None, *, same: bool) -> int:
    """The threshold of the following root, of so many keys; that of ``current`` where they are the ``same``.

    Raises:
        UsageError: it does not fit, or it would fall and nobody said so.
    """
    before = current.roles["root"].threshold
    if wanted is None and same:
        return before
    found = fitting_threshold(keys, wanted)
    if wanted is None and found < before:
        raise UsageError(
            f"The threshold would fall from {before} to {found}. If you want that, say --threshold {found}."
        )
    return found


def remaining(current: Root, remove: Iterable[str]) -> list[Key]:
    """The root keys that stay when others go.

    Raises:
        UsageError: ``remove`` names no key.
    """
    keyids = list(current.roles["root"].keyids)
    gone = {_found(start, keyids) for start in remove}
    return [current.keys[keyid] for keyid in keyids if keyid not in gone]


def _assign(root: Root, keys: Sequence[Key], threshold: int | None) -> None:
    wanted = fitting_threshold(len(keys), threshold)
    _check(keys)
    for role in TOP_LEVEL_ROLE_NAMES:
        root.roles[role].keyids.clear()
        root.roles[role].threshold = wanted
        for key in keys:
            root.add_key(key, role)


def _check(keys: Sequence[Key]) -> None:
    seen: set[str] = set()
    for key in keys:
        if is_keyless(key):
            raise UsageError("A root key is a key, not an identity: it must count without any other root of trust.")
        same = material(key)
        if same in seen:
            raise UsageError(f"The key {key.keyid[:8]} is given twice; it would count once.")
        seen.add(same)


def _found(start: str, keyids: Iterable[str]) -> str:
    hits = [keyid for keyid in keyids if len(start) >= 8 and keyid.startswith(start)]
    if len(hits) != 1:
        raise UsageError(f"{start} names {len(hits) or 'no'} root key(s); give at least 8 digits of one key id.")
    return hits[0]
