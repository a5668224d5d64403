"""What a trust root is made of, as bytes: it comes from outside the port, and nothing here reads a file."""

from dataclasses import dataclass

__all__ = ["SIZE_MAX", "Seen", "TrustSource"]

SIZE_MAX = 4 << 20
"""Bytes of one metadata file; a registry of a thousand owners is a fifth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The highest versions that were accepted before; what is older is a rollback, another of the same two histories.

    ``root_sha256`` is of what the root's keys sign; empty where nobody wrote it down. Whoever holds keys that were
    rotated out can still sign another successor of the old root, so the version alone proves nothing.
    """

    root_version: int
    registry_version: int
    registry_sha256: str
    root_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSource:
    """The pinned root, its successors, and the role registry.

    ``roots`` are (file name, bytes) in ascending order; the first is the anchor, chosen by whoever runs the audit.
    ``seen`` is None where nothing is remembered, so that a rollback cannot be noticed. ``origin`` is for the reader.
    """

    roots: tuple[tuple[str, bytes], ...]
    registry: bytes | None
    sigstore_root: bytes | None = None
    seen: Seen | None = None
    origin: str
