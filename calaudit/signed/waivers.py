"""Waivers: those that hold, and reach something that fails and may be waived."""

from collections.abc import Iterator

from calaudit.model import PORT, Location, Result, Rule
from calaudit.signed.grounds import Grounds
from calaudit.trust import Fault, Refused
from calaudit.trust.roles import RELEASE
from calaudit.trust.signoff import payload_digest
from calaudit.trust.waiver import Waiver, verify_waiver

__all__ = ["read_waivers", "waiver_digests"]


def read_waivers(grounds: Grounds, faults: list[Fault]) -> Iterator[Waiver]:
    """The waivers that hold; the others go to ``faults``."""
    roles = _waiver_roles(grounds)
    for path in grounds.below("waivers/"):
        try:
            waiver = verify_waiver(
                grounds.envelope(path),
                port=grounds.port_id,
                files=grounds.files,
                roles=roles,
                registry=grounds.registry,
                schemas=grounds.contract.schemas,
                sigstore_root=grounds.trust.sigstore_root,
                now=grounds.trust.now,
            )
        except Refused as refused:
            faults.append(refused.fault)
            continue
        fault = _misplaced(grounds, waiver)
        if fault is None:
            yield waiver
        else:
            faults.append(fault)


def waiver_digests(grounds: Grounds) -> dict[str, str]:
    """The payload digest of every waiver that can be read, by path: what signoffs name."""
    digests = {}
    for path in grounds.below("waivers/"):
        try:
            digests[path] = payload_digest(grounds.envelope(path))
        except Refused:
            continue  # reported where the waiver is verified
    return digests


def _waiver_roles(grounds: Grounds) -> dict[str, tuple[str, ...]]:
    roles = {gate.id: (*gate.signers, RELEASE) for gate in grounds.contract.gates.gates.values()}
    return {gate: tuple(dict.fromkeys(names)) for gate, names in {**roles, PORT: (RELEASE,)}.items()}


def _misplaced(grounds: Grounds, waiver: Waiver) -> Fault | None:
    """A waiver reaches a rule that may be waived, and something that fails."""
    at = Location(path=waiver.path)
    rule = _rule(grounds, waiver)
    if rule is None:
        message = f"There is no rule {waiver.rule} on {waiver.gate} to waive."
        return Fault(rule="waiver-unused", message=message, at=at)
    threshold = grounds.contract.gates.gates[waiver.gate].threshold if waiver.gate != PORT else ()
    if rule.unwaivable or rule.trust or rule.id in threshold:
        message = f"{waiver.gate}.{waiver.rule} cannot be waived, by anybody."
        return Fault(rule="waiver-forbidden", message=message, at=at)
    covered = [r for r in _results(grounds, waiver.gate) if waiver.reaches(r)]
    if any(r.blocks is not None for r in covered):
        return Fault(rule="waiver-forbidden", message="A result that blocks a gate cannot be waived.", at=at)
    if not covered:
        message = f"{waiver.rule} does not fail on {waiver.artifact}; withdraw the waiver."
        return Fault(rule="waiver-unused", message=message, at=at)
    return None


def _rule(grounds: Grounds, waiver: Waiver) -> Rule | None:
    return grounds.rules.get(f"{waiver.gate}.{waiver.rule}") or grounds.rules.get(f"common.{waiver.rule}")


def _results(grounds: Grounds, gate: str) -> tuple[Result, ...]:
    found = grounds.technical.get(gate)
    return () if found is None else found.results
