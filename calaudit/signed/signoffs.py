"""Signoffs: every slot of the port, and what fills it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from calaudit.model import PORT, Location
from calaudit.signed.grounds import Grounds
from calaudit.signed.waivers import waiver_digests
from calaudit.trust import Fault, Refused, Slot
from calaudit.trust.binding import Below, Expected
from calaudit.trust.envelope import Envelope
from calaudit.trust.signoff import payload_digest, verify_signoff

__all__ = ["read_slots"]

_SLOT = re.compile(r"signoffs/(?P<gate>port|G[0-9]+)\.(?P<role>[a-z]+)\.(?:dsse|[1-9][0-9]*\.sigstore)\.json")


def read_slots(grounds: Grounds, faults: list[Fault]) -> dict[tuple[str, str], Slot]:
    """Every slot of every gate and of the port, by gate and role; files that fill none go to ``faults``."""
    envelopes: dict[tuple[str, str], list[Envelope]] = {}
    broken: dict[tuple[str, str], Fault] = {}
    paths: dict[tuple[str, str], list[str]] = {}
    known = dict.fromkeys(_known_slots(grounds))
    for path in grounds.below("signoffs/"):
        name = _SLOT.fullmatch(path)
        slot = (name["gate"], name["role"]) if name else None
        if slot not in known or slot is None:
            faults.append(_unexpected(path, slot))
            continue
        if slot[0] not in grounds.technical:
            message = f"{slot[0]} has no files and was not judged, so there is nothing that this could sign."
            faults.append(Fault(rule="signoff-unexpected", message=message, at=Location(path=path)))
        paths.setdefault(slot, []).append(path)
        try:
            envelopes.setdefault(slot, []).append(grounds.envelope(path, bundle=path.endswith(".sigstore.json")))
        except Refused as refused:
            broken.setdefault(slot, refused.fault)
    digests = {slot: payload_digest(found[0]) for slot, found in envelopes.items() if slot not in broken}
    waivers = waiver_digests(grounds)
    slots: dict[tuple[str, str], Slot] = {}
    # Gates stand after those they depend on (gates.yaml), so what a signoff rests on was verified before it.
    for gate, role in known:
        slot = (gate, role)
        if slot in broken:
            slots[slot] = Slot(gate=gate, role=role, paths=tuple(paths[slot]), fault=broken[slot])
        elif slot in envelopes:
            slots[slot] = _slot(grounds, envelopes[slot], _expected(grounds, gate, role, slots, waivers), digests[slot])
        else:
            slots[slot] = Slot(gate=gate, role=role)
    return slots


def _known_slots(grounds: Grounds) -> Iterator[tuple[str, str]]:
    for gate in grounds.contract.gates.gates.values():
        yield from ((gate.id, role) for role in gate.signers)
    for duty in grounds.contract.gates.duties:
        if _duty_files(grounds, duty.role):
            yield (PORT, duty.role)


def _slot(grounds: Grounds, found: Sequence[Envelope], expected: Expected, digest: str) -> Slot:
    slot = Slot(gate=expected.gate, role=expected.role, paths=tuple(envelope.path for envelope in found), digest=digest)
    registry, root = grounds.registry, grounds.trust.sigstore_root
    try:
        return replace(slot, signoff=verify_signoff(found, expected, registry, grounds.contract.schemas, root))
    except Refused as refused:
        return replace(slot, fault=refused.fault)


def _expected(
    grounds: Grounds, gate: str, role: str, below: Mapping[tuple[str, str], Slot], waivers: Mapping[str, str]
) -> Expected:
    return Expected(
        port=grounds.port_id,
        profile=grounds.said("profile"),
        stage=grounds.said("stage"),
        gate=gate,
        role=role,
        artifacts=_artifacts(grounds, gate, role),
        files=grounds.files,
        waivers=waivers,
        depends={rests_on: _standing(below[rests_on]) for rests_on in _below_gate(grounds, gate)},
        technical=_verdict(grounds, gate),
        contract_digest=grounds.contract.digest,
    )


def _standing(slot: Slot) -> Below:
    return Below(digest=slot.digest, fault=None if slot.fault is None else slot.fault.rule)


def _artifacts(grounds: Grounds, gate: str, role: str) -> dict[str, str]:
    if gate != PORT:
        return {entry.path: entry.sha256 for entry in grounds.evidence.of_gate(gate)}
    return _duty_files(grounds, role)


def _duty_files(grounds: Grounds, role: str) -> dict[str, str]:
    patterns = [pattern for duty in grounds.contract.gates.duties if duty.role == role for pattern in duty.covers]
    return {entry.path: entry.sha256 for pattern in patterns for entry in grounds.evidence.matching(pattern)}


def _below_gate(grounds: Grounds, gate: str) -> list[tuple[str, str]]:
    if gate == PORT:
        return []
    gates = grounds.contract.gates.gates
    return [(below, role) for below in gates[gate].depends for role in gates[below].signers]


def _verdict(grounds: Grounds, gate: str) -> tuple[str, str] | None:
    found = grounds.technical.get(gate)
    return None if found is None else (str(found.verdict), found.digest)


def _unexpected(path: str, slot: tuple[str, str] | None) -> Fault:
    if slot is None:
        message = "A signoff is called <gate>.<role>.dsse.json or <gate>.<role>.<n>.sigstore.json."
    else:
        message = f"{slot[1]} does not sign {slot[0]}, so nothing says what this is."
    return Fault(rule="signoff-unexpected", message=message, at=Location(path=path))
