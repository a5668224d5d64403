"""A signoff: one role's word on one gate of one port, over exactly these bytes; it cannot be handed on.

The steps are those of the design (03, "Signoffs cannot be handed on"), in its order; 1 (the envelope) and 2 (the
registry) were taken before.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.model import PORT, Location
from calaudit.trust.envelope import Envelope, parse_statement
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.registry import Registry
from calaudit.trust.signatures import Signer, meets, signers

__all__ = ["Expected", "Signoff", "verify_signoff"]

PREDICATE = "urn:calaudit:predicate:gate-signoff:v1"
APPROVE = "approve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A signoff that another one rests on: its payload's digest (None without one), and the rule that refuses it."""

    digest: str | None
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the port says today of the slot that a signoff wants to fill.

    ``artifacts`` are all files it has to name, with their SHA-256; ``files`` those of the whole port; ``waivers`` the
    payload digests of the waivers, by path; ``depends`` the signoffs that this one rests on; ``technical`` the verdict
    and its digest, None where there is no gate.
    """

    port: str
    profile: str
    stage: str
    gate: str
    role: str
    artifacts: Mapping[str, str]
    files: Mapping[str, str]
    waivers: Mapping[str, str]
    depends: Mapping[tuple[str, str], Below]
    technical: tuple[str, str] | None
    contract_digest: str


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
    _same_slot(predicate, expected, at)
    _same_artifacts(statement["subject"], expected, at)
    _same_papers(predicate, expected, at)
    outdated = _same_judgement(predicate, expected, at)
    _same_chain(predicate["depends"], expected, at)
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


def _same_slot(predicate: Mapping[str, Any], expected: Expected, at: Location) -> None:
    for member in ("port", "gate", "role"):
        wanted = getattr(expected, member)
        if predicate[member] != wanted:
            raise Refused(
                "signoff-replayed",
                f"It was signed for the {member} {predicate[member]}, and lies where one for {wanted} belongs.",
                at=at,
                expected=wanted,
                actual=predicate[member],
            )


def _same_artifacts(subjects: Sequence[Mapping[str, Any]], expected: Expected, at: Location) -> None:
    signed = {item["name"]: item["digest"]["sha256"] for item in subjects}
    if len(signed) != len(subjects):
        raise Refused("envelope-malformed", "A file stands among the subjects twice.", at=at)
    changed = sorted(name for name, digest in signed.items() if expected.artifacts.get(name) != digest)
    if changed:
        name = changed[0]
        found = expected.artifacts.get(name)
        absent = "is not there" if name not in expected.files else "is no artifact of this slot"
        what = absent if found is None else "changed"
        raise Refused(
            "signoff-stale",
            f"{name} {what}{_more(changed)}; what was signed is not what is there.",
            at=at,
            expected=signed[name],
            actual=found or "none",
        )
    missing = sorted(set(expected.artifacts) - set(signed))
    if missing:
        raise Refused("signoff-incomplete", f"It does not name {missing[0]}{_more(missing)}.", at=at)
    if not signed:
        raise Refused("signoff-incomplete", "There is nothing to sign for.", at=at)


def _same_papers(predicate: Mapping[str, Any], expected: Expected, at: Location) -> None:
    for member, there in (("evidence", expected.files), ("waivers", expected.waivers)):
        for item in predicate[member]:
            if there.get(item["name"]) != item["digest"]["sha256"]:
                raise Refused(
                    "signoff-stale",
                    f"{item['name']}, which it relied on, changed or is gone.",
                    at=at,
                    expected=item["digest"]["sha256"],
                    actual=there.get(item["name"], "none"),
                )


def _same_judgement(predicate: Mapping[str, Any], expected: Expected, at: Location) -> Fault | None:
    """Judged by today's contract the verdict is the signed one; by another one it cannot be compared."""
    # The contract decides by the profile's numbers, and what was signed under an older one shows no results to compare.
    for member in ("profile", "stage") if expected.gate != PORT else ():
        if predicate[member] != getattr(expected, member):
            raise Refused(
                "signoff-verdict-mismatch",
                f"It was signed for the {member} {predicate[member]}; the port's is {getattr(expected, member)}.",
                at=at,
                expected=predicate[member],
                actual=getattr(expected, member),
            )
    bound = predicate.get("technical")
    if (bound is None) != (expected.gate == PORT):
        raise Refused("envelope-malformed", "A signoff of a gate, and only that, binds its technical verdict.", at=at)
    if predicate["contract"]["digest"] != expected.contract_digest:
        return Fault(
            rule="signoff-outdated",
            message=f"It was signed under another contract (version {predicate['contract']['version']}): other rules, "
            "another version, or other policies (--policy) than today's.",
            at=at,
            expected=expected.contract_digest,
            actual=predicate["contract"]["digest"],
        )
    if bound is not None and (bound["verdict"], bound["digest"]) != expected.technical:
        verdict, digest = expected.technical or ("NOT_STARTED", "")
        raise Refused(
            "signoff-verdict-mismatch",
            f"It was signed for the technical verdict {bound['verdict']}; today's is "
            + (f"{verdict}." if verdict != bound["verdict"] else f"{verdict} too, of other results."),
            at=at,
            expected=bound["digest"],
            actual=digest,
        )
    return None


def _same_chain(depends: Sequence[Mapping[str, Any]], expected: Expected, at: Location) -> None:
    bound = {(item["gate"], item["role"]): item["digest"] for item in depends}
    if len(bound) != len(depends) or set(bound) != set(expected.depends):
        wanted = ", ".join(f"{gate} by {role}" for gate, role in sorted(expected.depends)) or "none"
        raise Refused("signoff-chain", f"It rests on other signoffs than it has to: {wanted}.", at=at)
    for (gate, role), digest in bound.items():
        below = expected.depends[gate, role]
        found = below.digest
        if below.fault is not None or found != digest:
            what = "is gone" if found is None else "was signed anew"
            if below.fault is not None and (found is None or found == digest):
                what = f"does not hold ({below.fault})"
            raise Refused(
                "signoff-chain",
                f"The signoff of {gate} by {role}, which it rests on, {what}.",
                at=at,
                expected=digest,
                actual=found or "none",
            )


def _more(names: Sequence[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
