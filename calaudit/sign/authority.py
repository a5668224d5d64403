"""Whether somebody may sign, by the registry: asked before anything is signed, and of what is signed before it is kept.

Verification asks again, of everything. This only spares people from making what it would refuse.
"""

from collections.abc import Sequence
from datetime import datetime

from calaudit.contract import Schemas
from calaudit.errors import UsageError
from calaudit.trust import Refused, Trust, TrustSource, establish
from calaudit.trust.envelope import Envelope
from calaudit.trust.registry import Registry, Role
from calaudit.trust.signatures import Signer, signers

__all__ = ["accepted", "check_key", "established", "role_of"]


def established(source: TrustSource | None, now: datetime, schemas: Schemas, port: str) -> tuple[Trust, Registry]:
    """What the trust source vouches for, and its registry, which speaks for the port.

    Raises:
        UsageError: there is no trust, it does not hold, or it does not speak for this port.
    """
    if source is None:
        raise UsageError("No trust root is pinned. Pin one (calaudit trust pin DIR), or name one with --trust DIR.")
    trust = establish(source, now, schemas)
    if trust.registry is None:
        told = " ".join(f"{fault.rule}: {fault.message}" for fault in trust.faults)
        raise UsageError(f"Nothing can be signed under {trust.origin}. {told}")
    if port not in trust.registry.ports:
        raise UsageError(
            f"The registry of {trust.origin} does not speak for the port {port}; it does for "
            f"{', '.join(sorted(trust.registry.ports))}."
        )
    return trust, trust.registry


def role_of(registry: Registry, name: str) -> Role:
    """A role that somebody owns.

    Raises:
        UsageError: nobody does.
    """
    role = registry.role(name)
    if role is None:
        raise UsageError(f"Nobody owns the role {name} in registry version {registry.version} (calaudit trust show).")
    return role


def check_key(keyid: str, role: Role, registry: Registry) -> None:
    """Refuse a key that does not speak for the role.

    Raises:
        UsageError: it is revoked, another role's, or nobody's.
    """
    if keyid in registry.revoked:
        raise UsageError(f"The key {keyid[:8]} is revoked: {registry.revoked[keyid]}")
    if keyid in role.keys:
        return
    other = next((r.name for r in registry.roles.values() if keyid in r.keys), None)
    whose = f"speaks for {other}" if other else "is nobody's in the registry"
    raise UsageError(f"The key {keyid[:8]} {whose}; here a key of {role.name} signs.")


def accepted(
    envelopes: Sequence[Envelope], roles: Sequence[Role], trust: Trust, registry: Registry, *, prefix: str
) -> tuple[Signer, ...]:
    """Who signed, by the reader that will judge it.

    Raises:
        UsageError: it would be refused.
    """
    try:
        return signers(envelopes, roles, registry, trust.sigstore_root, prefix=prefix)
    except Refused as refused:
        raise UsageError(f"This would be refused ({refused.fault.rule}): {refused.fault.message}") from refused
