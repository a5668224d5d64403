"""The chain of roots: from the one that was pinned to the newest, as the TUF specification §5.3 has it.

Each root is signed by the threshold of its own keys and by that of the root before it; versions go up by one.
"""

import hashlib
from datetime import datetime

from tuf.api.metadata import Metadata, Root

from calaudit.errors import Malformed
from calaudit.trust.fault import Refused
from calaudit.trust.keys import is_keyless, key_id, material
from calaudit.trust.source import Seen, TrustSource
from calaudit.trust.tuf_file import TUF_ERRORS, read_metadata

__all__ = ["digest_of", "newest_root"]


def newest_root(source: TrustSource, now: datetime) -> Metadata[Root]:
    """The root that speaks today.

    Raises:
        Refused: ``root-invalid`` or ``registry-rollback``; nothing below it can be trusted.
    """
    if not source.roots:
        raise Refused("root-invalid", f"{source.origin} holds no root (1.root.json).")
    # 1. The anchor was chosen by whoever runs the audit; it must at least be whole.
    name, data = source.roots[0]
    trusted = _read(name, data)
    _signed(trusted, name, trusted.signed, "its own keys")
    _same_history(trusted, name, source.seen)
    # 2. Every later root: the next version, signed by the old threshold and by its own.
    for name, data in source.roots[1:]:
        following = _read(name, data)
        if following.signed.version != trusted.signed.version + 1:
            raise Refused(
                "root-invalid",
                f"{name} has version {following.signed.version}; after {trusted.signed.version} comes "
                f"{trusted.signed.version + 1}.",
            )
        _signed(following, name, trusted.signed, f"the keys of version {trusted.signed.version}")
        _signed(following, name, following.signed, "its own keys")
        _same_history(following, name, source.seen)
        trusted = following
    root = trusted.signed
    # 3. Nothing older than what was seen before.
    if source.seen is not None and root.version < source.seen.root_version:
        raise Refused(
            "registry-rollback",
            f"The newest root is version {root.version}; version {source.seen.root_version} was seen before.",
        )
    # 4. The newest one is alive; those before it may have expired (TUF §5.3.10).
    if root.is_expired(now):
        raise Refused(
            "root-invalid", f"{name} expired on {root.expires:%Y-%m-%d}. Rotate the root (calaudit trust rotate)."
        )
    return trusted


def digest_of(root: Metadata[Root]) -> str:
    """The SHA-256 of what a root's keys sign: one more signature does not make it another root."""
    return hashlib.sha256(root.signed_bytes).hexdigest()


def _same_history(root: Metadata[Root], name: str, seen: Seen | None) -> None:
    if seen is None or not seen.root_sha256 or root.signed.version != seen.root_version:
        return
    found = digest_of(root)
    if found != seen.root_sha256:
        raise Refused(
            "registry-rollback",
            f"{name} is another root than the one of version {seen.root_version} that was seen before: two histories.",
            expected=seen.root_sha256,
            actual=found,
        )


def _read(name: str, data: bytes) -> Metadata[Root]:
    try:
        metadata = read_metadata(data, Root)
    except Malformed as error:
        raise Refused("root-invalid", f"{name}: {error.message}") from error
    version, dot, rest = name.partition(".")
    if (version, dot + rest) != (str(metadata.signed.version), ".root.json"):
        raise Refused(
            "root-invalid", f"{name} holds the root of version {metadata.signed.version}; name and version differ."
        )
    _sound(metadata.signed, name)
    return metadata


def _sound(root: Root, name: str) -> None:
    """Key ids are those of their keys, and no key stands there twice."""
    seen: dict[str, str] = {}
    for keyid, key in root.keys.items():
        if keyid != key_id(key):
            raise Refused("root-invalid", f"{name}: the key id {keyid[:8]} is not the digest of its key.")
        if is_keyless(key):
            raise Refused(
                "root-invalid", f"{name}: {keyid[:8]} is keyless; a root is signed by keys that need no other root."
            )
        try:
            same = seen.setdefault(material(key), keyid)
        except ValueError as error:
            raise Refused("root-invalid", f"{name}: the key {keyid[:8]}: {error}.") from error
        if same != keyid:
            raise Refused("root-invalid", f"{name}: {keyid[:8]} and {same[:8]} are one key, so it would count twice.")


def _signed(metadata: Metadata[Root], name: str, by: Root, whose: str) -> None:
    try:
        result = by.get_verification_result("root", metadata.signed_bytes, metadata.signatures)
    except TUF_ERRORS as error:
        raise Refused("root-invalid", f"{name}: its signatures cannot be verified ({error}).") from error
    if not result.verified:
        raise Refused(
            "root-invalid",
            f"{name} is signed by {len(result.signed)} of {whose}; the threshold is {result.threshold}.",
            expected=str(result.threshold),
            actual=str(len(result.signed)),
        )
