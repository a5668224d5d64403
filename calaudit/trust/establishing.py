"""From the pinned root to a sound role registry."""

from datetime import datetime

from calaudit.contract import Schemas
from calaudit.model import Kind
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.nouns import Trust
from calaudit.trust.source import TrustSource

__all__ = ["establish"]


def establish(source: TrustSource | None, now: datetime, schemas: Schemas) -> Trust:
    """Verify the chain from the pinned root to the registry.

    ``now`` is timezone-aware. Without a source there is no trust, and everything that needs it stays open.
    """
    if source is None:
        missing = Fault(rule="trust-root-missing", message="No trust root is pinned.", kind=Kind.OPEN)
        return Trust(origin="nothing", now=now, faults=(missing,))
    # A tenth of a second of imports: only where there is something to verify.
    from calaudit.trust.registry import read_registry  # noqa: PLC0415
    from calaudit.trust.root import digest_of, newest_root  # noqa: PLC0415

    try:
        newest = newest_root(source, now)
    except Refused as refused:
        return Trust(origin=source.origin, now=now, faults=(refused.fault,))
    root = newest.signed
    faults: tuple[Fault, ...] = ()
    registry = None
    try:
        registry, found = read_registry(source, root, now, schemas)
        faults = tuple(found)
    except Refused as refused:
        faults = (refused.fault,)
    return Trust(
        origin=source.origin,
        now=now,
        faults=faults,
        root_version=root.version,
        root_digest=digest_of(newest),
        root_expires=root.expires,
        registry=registry,
        sigstore_root=source.sigstore_root,
        rollback_checked=source.seen is not None,
    )
