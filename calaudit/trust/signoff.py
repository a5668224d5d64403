"""A signoff: one role's word on one gate of one port, over exactly these bytes; it cannot be handed on.

The steps are taken in their order; 1 (the envelope) and 2 (the registry) were taken before.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.model import Location
from calaudit.trust.binding import Expected, demand_bound
from calaudit.trust.envelope import Envelope, parse_statement
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.registry import Registry
from calaudit.trust.signatures import Signer, meets, signers

__all__ = ["APPROVE", "PREDICATE", "Signoff", "payload_digest", "verify_signoff"]

PREDICATE = "urn:calaudit:predicate:gate-signoff:v1"
APPROVE = "approve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signoff:
    """A signoff that holds: who signed what. ``digest`` is the SHA-256 of the payload."""

    gate: str
    role: str
    digest: str
    signers: tuple[Signer, ...]
    artifacts: frozenset[str]
    outdated: Fault | None


def payload_digest(envelope: Envelope) -> str:
    """The SHA-256 by which other signoffs name this one."""
    return hashlib.sha256(envelope.payload).hexdigest()


def verify_signoff(
    envelopes: Sequence[Envelope],
    expected: Expected,
    registry: Registry,
    schemas: Schemas,
    sigstore_root: bytes | None,
) -> Signoff:
    """Take the steps over the envelopes of one slot: one DSSE envelope, or bundles with one identical payload.

    Raises:
        Refused: with the rule of the first step that does not hold.
    """
    first = envelopes[0]
    at = Location(path=first.path)
    other = next((e for e in envelopes if e.payload != first.payload), None)
    if other is not None:
        raise Refused("envelope-malformed", f"{other.path} carries another payload than {first.path}.", at=at)
    try:
        statement = parse_statement(first, "gate-signoff/v1", schemas)
    except Malformed as error:
        raise Refused("envelope-malformed", error.message, at=at) from error
    # 3. Every signature holds and belongs to the role.
    role = registry.role(expected.role)
    if role is None:
        for signature in (s for envelope in envelopes for s in envelope.signatures if s.keyid in registry.revoked):
            told = f"The key {signature.keyid[:8]} is revoked: {registry.revoked[signature.keyid]}"
            raise Refused("signoff-revoked", told, at=at)
        raise Refused("signoff-wrong-role", f"Nobody owns the role {expected.role}, and somebody signed for it.", at=at)
    signed = signers(envelopes, [role], registry, sigstore_root, prefix="signoff")
    # 4. Enough different owners.
    count = meets(signed, role)
    if count < role.threshold:
        raise Refused(
            "signoff-threshold",
            f"{count} of the {role.threshold} owners of {role.name} that are needed signed.",
            at=at,
            expected=f"{role.threshold} different owners",
            actual=str(count),
        )
    # 5. Not from a registry that is newer than the one at hand.
    predicate = statement["predicate"]
    _same_history(predicate["registry"], registry, at)
    # 6. This slot, these bytes, this verdict, these signoffs below it, this contract.
    outdated = demand_bound(predicate, statement["subject"], expected, at)
    # 7. And the word is yes.
    if predicate["decision"] != APPROVE:
        reason = predicate.get("reason", "no reason is given.")
        raise Refused("signoff-rejected", f"{role.name} rejected the gate: {reason}", at=at)
    return Signoff(
        gate=expected.gate,
        role=role.name,
        digest=payload_digest(first),
        signers=signed,
        artifacts=frozenset(expected.artifacts),
        outdated=outdated,
    )


def _same_history(bound: Mapping[str, Any], registry: Registry, at: Location) -> None:
    if bound["version"] > registry.version:
        raise Refused(
            "registry-rollback",
            f"It was signed under registry version {bound['version']}; the registry at hand is {registry.version}.",
            at=at,
            expected=f"version {bound['version']} or newer",
            actual=f"version {registry.version}",
        )
    if bound["version"] == registry.version and bound["digest"] != registry.digest:
        raise Refused(
            "registry-rollback",
            f"It was signed under another registry of version {registry.version}: two histories.",
            at=at,
            expected=bound["digest"],
            actual=registry.digest,
        )
