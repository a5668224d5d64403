"""A waiver: the gate's roles and the release role let one failed rule on one artifact pass, for a while.

It is bound to port, gate, rule and the artifact's bytes. It never reaches a rule that decides whether a port is what it
says it is; those are ``unwaivable``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.model import Kind, Location, Result
from calaudit.trust.envelope import Envelope, parse_statement
from calaudit.trust.fault import Refused, unknown_port
from calaudit.trust.moment import parse_time
from calaudit.trust.registry import Registry, Role
from calaudit.trust.signatures import Signer, meets, signers

__all__ = ["Waiver", "verify_waiver"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A waiver that holds until ``until``."""

    path: str
    id: str
    gate: str
    rule: str
    artifact: str
    reason: str
    ticket: str
    until: datetime
    signers: tuple[Signer, ...]

    def reaches(self, result: Result) -> bool:
        """Whether it covers a result: the same rule fails on the same gate and artifact."""
        place = result.location
        return (
            (result.gate, result.rule) == (self.gate, self.rule)
            and result.kind is Kind.FAIL
            and place is not None
            and place.path == self.artifact
        )


def verify_waiver(  # noqa: PLR0913 - everything a waiver is bound to, by name
    envelope: Envelope,
    *,
    port: str | None,
    files: Mapping[str, str],
    roles: Mapping[str, Sequence[str]],
    registry: Registry,
    schemas: Schemas,
    sigstore_root: bytes | None,
    now: datetime,
) -> Waiver:
    """Verify a waiver; ``roles`` names for each gate the roles whose threshold it has to meet.

    ``port`` is None where the port's id cannot be read: then none holds.

    Raises:
        Refused: with the rule of the first step that does not hold.
    """
    at = Location(path=envelope.path)
    # 1. It says what it waives, why, by which ticket and until when: the schema demands each of them.
    try:
        statement = parse_statement(envelope, "waiver/v1", schemas)
        until = parse_time(statement["predicate"]["until"])
    except Malformed as error:
        raise Refused("envelope-malformed", error.message, at=at) from error
    predicate, subject = statement["predicate"], statement["subject"][0]
    if envelope.path != f"waivers/{predicate['id']}.dsse.json":
        raise Refused("waiver-replayed", f"It is the waiver {predicate['id']}, under another name.", at=at)
    # 2. Each role that has to agree does, and nobody else signed.
    gate = predicate["gate"]
    if gate not in roles:
        raise Refused("waiver-replayed", f"There is no gate {gate}.", at=at)
    needed = [_owned(registry, name, at) for name in roles[gate]]
    signed = signers([envelope], needed, registry, sigstore_root, prefix="waiver")
    for role in needed:
        count = meets(signed, role)
        if count < role.threshold:
            raise Refused(
                "waiver-threshold",
                f"{count} of the {role.threshold} owners of {role.name} that are needed signed.",
                at=at,
                expected=f"{role.threshold} different owners of {role.name}",
                actual=str(count),
            )
    # 3. It is for this port, and for the bytes that are there.
    if port is not None and predicate["port"] != port:
        raise Refused("waiver-replayed", f"It is for the port {predicate['port']}.", at=at, expected=port)
    found = files.get(subject["name"])
    if found != subject["digest"]["sha256"]:
        raise Refused(
            "waiver-stale",
            f"{subject['name']} {'is gone' if found is None else 'changed'} since it was waived.",
            at=at,
            expected=subject["digest"]["sha256"],
            actual=found or "none",
        )
    # 4. It has not run out.
    if now >= until:
        raise Refused("waiver-expired", f"It ran out on {until:%Y-%m-%d}. Repair what it waives.", at=at)
    if port is None:
        raise unknown_port("waiver-replayed", predicate["port"], at)
    return Waiver(
        path=envelope.path,
        id=predicate["id"],
        gate=gate,
        rule=predicate["rule"],
        artifact=subject["name"],
        reason=predicate["reason"],
        ticket=predicate["ticket"],
        until=until,
        signers=signed,
    )


def _owned(registry: Registry, name: str, at: Location) -> Role:
    role = registry.role(name)
    if role is None:
        raise Refused("waiver-threshold", f"Nobody owns the role {name}, whose signature it needs.", at=at)
    return role
