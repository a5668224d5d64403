"""What of a port is signed: its signoffs, waivers and attestations, each held against the port as it is now.

Every file in ``signoffs/``, ``waivers/`` and ``attestations/`` comes to something: it holds, or it is a fault with a
rule. Nothing is left out because of its name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from calaudit.contract import Contract
from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import Evidence
from calaudit.model import PORT, Kind, Location, Port, Result, Rule, TechnicalVerdict
from calaudit.trust import Fault, Refused, Signed, Slot, Trust
from calaudit.trust.chain import Chain, Grounds, verify_chain
from calaudit.trust.envelope import Envelope, parse_bundle, parse_envelope
from calaudit.trust.provenance import Provenance, verify_provenance
from calaudit.trust.registry import RELEASE, Registry
from calaudit.trust.signoff import Expected, payload_digest, verify_signoff
from calaudit.trust.steps import LAYOUT, ChainStep, read_chain
from calaudit.trust.waiver import Waiver, verify_waiver

__all__ = ["read_signed"]

_SLOT = re.compile(r"signoffs/(?P<gate>port|G[0-9]+)\.(?P<role>[a-z]+)\.(?:dsse|[1-9][0-9]*\.sigstore)\.json")


def read_signed(  # noqa: PLR0913 - everything that signatures are held against
    evidence: Evidence,
    contract: Contract,
    trust: Trust,
    *,
    port: Port,
    technical: Mapping[str, TechnicalVerdict],
    rules: Mapping[str, Rule],
) -> Signed:
    """Verify everything that is signed in a port.

    ``technical`` holds the verdict of every gate that was judged; ``rules`` the metadata of the planned rules.
    Without a sound registry nothing is verified and nothing holds.
    """
    if trust.registry is None:
        return Signed(trust=trust)
    return _Reader(evidence, contract, trust, trust.registry, port, technical, rules).read()


@dataclass(frozen=True)
class _Reader:
    evidence: Evidence
    contract: Contract
    trust: Trust
    registry: Registry
    port: Port
    technical: Mapping[str, TechnicalVerdict]
    rules: Mapping[str, Rule]

    def read(self) -> Signed:
        faults: list[Fault] = []
        waivers = list(self._waivers(faults))
        attestations = list(self._attestations(faults))
        chain = self._chain(attestations, faults)
        slots = self._slots(faults)
        return Signed(
            trust=self.trust,
            slots=slots,
            waivers=tuple(waivers),
            attestations=tuple(attestations),
            chain=chain,
            faults=tuple(faults),
        )

    @cached_property
    def _files(self) -> dict[str, str]:
        return {path: entry.sha256 for path, entry in self.evidence.entries.items()}

    # Signoffs -------------------------------------------------------------------------------------------------------

    def _slots(self, faults: list[Fault]) -> dict[tuple[str, str], Slot]:
        envelopes: dict[tuple[str, str], list[Envelope]] = {}
        broken: dict[tuple[str, str], Fault] = {}
        paths: dict[tuple[str, str], list[str]] = {}
        known = dict.fromkeys(self._known_slots())
        for path in self._below("signoffs/"):
            name = _SLOT.fullmatch(path)
            slot = (name["gate"], name["role"]) if name else None
            if slot not in known or slot is None:
                faults.append(_unexpected(path, slot))
                continue
            if slot[0] not in self.technical:
                message = f"{slot[0]} has no files and was not judged, so there is nothing that this could sign."
                faults.append(Fault(rule="signoff-unexpected", message=message, at=Location(path=path)))
            paths.setdefault(slot, []).append(path)
            try:
                envelopes.setdefault(slot, []).append(self._envelope(path, bundle=path.endswith(".sigstore.json")))
            except Refused as refused:
                broken.setdefault(slot, refused.fault)
        # The digests are known before any slot is verified: a signoff rests on those below it, whoever wrote them.
        digests = {slot: payload_digest(found[0]) for slot, found in envelopes.items() if slot not in broken}
        slots = {}
        for gate, role in known:
            slot = (gate, role)
            if slot in broken:
                slots[slot] = Slot(gate=gate, role=role, paths=tuple(paths[slot]), fault=broken[slot])
            elif slot in envelopes:
                slots[slot] = self._slot(slot, envelopes[slot], digests)
            else:
                slots[slot] = Slot(gate=gate, role=role)
        return slots

    def _known_slots(self) -> Iterator[tuple[str, str]]:
        for gate in self.contract.gates.gates.values():
            yield from ((gate.id, role) for role in gate.signers)
        for duty in self.contract.gates.duties:
            if self._duty_files(duty.role):
                yield (PORT, duty.role)

    def _slot(self, slot: tuple[str, str], found: Sequence[Envelope], digests: Mapping[tuple[str, str], str]) -> Slot:
        gate, role = slot
        paths = tuple(envelope.path for envelope in found)
        expected = Expected(
            port=self.port.id,
            profile=self.port.profile,
            stage=self.port.stage,
            gate=gate,
            role=role,
            artifacts=self._artifacts(gate, role),
            files=self._files,
            waivers=self._waiver_digests,
            depends={below: digests.get(below) for below in self._below_gate(gate)},
            technical=self._verdict(gate),
            contract_digest=self.contract.digest,
        )
        try:
            signoff = verify_signoff(found, expected, self.registry, self.contract.schemas, self.trust.sigstore_root)
        except Refused as refused:
            return Slot(gate=gate, role=role, paths=paths, digest=digests[slot], fault=refused.fault)
        return Slot(gate=gate, role=role, paths=paths, digest=digests[slot], signoff=signoff)

    def _artifacts(self, gate: str, role: str) -> dict[str, str]:
        if gate != PORT:
            return {entry.path: entry.sha256 for entry in self.evidence.of_gate(gate)}
        return self._duty_files(role)

    def _duty_files(self, role: str) -> dict[str, str]:
        patterns = [pattern for duty in self.contract.gates.duties if duty.role == role for pattern in duty.covers]
        return {entry.path: entry.sha256 for pattern in patterns for entry in self.evidence.matching(pattern)}

    def _below_gate(self, gate: str) -> list[tuple[str, str]]:
        if gate == PORT:
            return []
        gates = self.contract.gates.gates
        return [(below, role) for below in gates[gate].depends for role in gates[below].signers]

    def _verdict(self, gate: str) -> tuple[str, str] | None:
        found = self.technical.get(gate)
        return None if found is None else (str(found.verdict), found.digest)

    # Waivers --------------------------------------------------------------------------------------------------------

    def _waivers(self, faults: list[Fault]) -> Iterator[Waiver]:
        for path in self._below("waivers/"):
            try:
                waiver = verify_waiver(
                    self._envelope(path),
                    port=self.port.id,
                    files=self._files,
                    roles=self._waiver_roles,
                    registry=self.registry,
                    schemas=self.contract.schemas,
                    sigstore_root=self.trust.sigstore_root,
                    now=self.trust.now,
                )
            except Refused as refused:
                faults.append(refused.fault)
                continue
            fault = self._misplaced(waiver)
            if fault is None:
                yield waiver
            else:
                faults.append(fault)

    @cached_property
    def _waiver_roles(self) -> dict[str, tuple[str, ...]]:
        roles = {gate.id: (*gate.signers, RELEASE) for gate in self.contract.gates.gates.values()}
        return {gate: tuple(dict.fromkeys(names)) for gate, names in {**roles, PORT: (RELEASE,)}.items()}

    @cached_property
    def _waiver_digests(self) -> dict[str, str]:
        digests = {}
        for path in self._below("waivers/"):
            try:
                digests[path] = payload_digest(self._envelope(path))
            except Refused:
                continue  # reported where the waiver is verified
        return digests

    def _misplaced(self, waiver: Waiver) -> Fault | None:
        """A waiver reaches a rule that may be waived, and something that fails."""
        at = Location(path=waiver.path)
        rule = self._rule(waiver)
        if rule is None:
            message = f"There is no rule {waiver.rule} on {waiver.gate} to waive."
            return Fault(rule="waiver-unused", message=message, at=at)
        threshold = self.contract.gates.gates[waiver.gate].threshold if waiver.gate != PORT else ()
        if rule.unwaivable or rule.trust or rule.id in threshold:
            message = f"{waiver.gate}.{waiver.rule} cannot be waived, by anybody."
            return Fault(rule="waiver-forbidden", message=message, at=at)
        covered = [r for r in self._results(waiver.gate) if waiver.reaches(r)]
        if any(r.blocks is not None for r in covered):
            return Fault(rule="waiver-forbidden", message="A result that blocks a gate cannot be waived.", at=at)
        if not covered:
            message = f"{waiver.rule} does not fail on {waiver.artifact}; withdraw the waiver."
            return Fault(rule="waiver-unused", message=message, at=at)
        return None

    def _rule(self, waiver: Waiver) -> Rule | None:
        return self.rules.get(f"{waiver.gate}.{waiver.rule}") or self.rules.get(f"common.{waiver.rule}")

    def _results(self, gate: str) -> tuple[Result, ...]:
        found = self.technical.get(gate)
        return () if found is None else found.results

    # Attestations ---------------------------------------------------------------------------------------------------

    def _attestations(self, faults: list[Fault]) -> Iterator[Provenance]:
        seen: dict[str, str] = {}
        for path in self._below("attestations/"):
            if path == LAYOUT or path.endswith(".link"):
                continue  # see _chain
            if not path.endswith(".dsse.json"):
                message = f"It is no link (*.link), no provenance (*.dsse.json) and not {LAYOUT}: nobody verifies it."
                faults.append(
                    Fault(rule="attestation-unexpected", message=message, at=Location(path=path), kind=Kind.OPEN)
                )
                continue
            try:
                provenance = verify_provenance(
                    self._envelope(path),
                    port=self.port.id,
                    files=self._files,
                    registry=self.registry,
                    schemas=self.contract.schemas,
                    now=self.trust.now,
                )
            except Refused as refused:
                faults.append(refused.fault)
                continue
            if provenance.invocation in seen:
                message = f"It attests the invocation {provenance.invocation}, as {seen[provenance.invocation]} does."
                faults.append(Fault(rule="attestation-replayed", message=message, at=Location(path=path)))
                continue
            seen[provenance.invocation] = path
            yield provenance

    def _chain(self, provenance: Sequence[Provenance], faults: list[Fault]) -> Chain | None:
        paths = self._below("attestations/")
        layout, links = LAYOUT in self.evidence.entries, [path for path in paths if path.endswith(".link")]
        if not layout and not links:
            return None
        grounds = Grounds(
            port=self.port.id,
            steps=self._steps(),
            gates=frozenset(self.technical),
            files=self._files,
            elsewhere=self._elsewhere(),
            registry=self.registry,
            schemas=self.contract.schemas,
            now=self.trust.now,
        )
        chain = verify_chain(LAYOUT if layout else None, links, self._envelope, provenance, grounds)
        faults += chain.faults
        return chain

    def _steps(self) -> tuple[ChainStep, ...] | Malformed:
        try:
            return read_chain(self.evidence.document("port.yaml"))
        except MissingFact:
            return ()  # the manifest's own fault; no link is of a step that nobody can read
        except Malformed as error:
            return error

    def _elsewhere(self) -> dict[str, str]:
        """What the source manifest says is kept in another place, by where it would be."""
        try:
            manifest = cast("dict[str, Any]", self.evidence.document("00-source/source-manifest.json"))
        except MissingFact:
            return {}
        return {f"00-source/{item['path']}": item["sha256"] for item in manifest["files"] if item.get("uri")}

    # Files ----------------------------------------------------------------------------------------------------------

    def _below(self, folder: str) -> Iterable[str]:
        return [path for path in self.evidence.entries if path.startswith(folder)]

    def _envelope(self, path: str, *, bundle: bool = False) -> Envelope:
        at = Location(path=path)
        try:
            data = self.evidence.read(path)
            return parse_bundle(path, data) if bundle else parse_envelope(path, data)
        except Malformed as error:
            at = Location(path=path, pointer=error.pointer or None, line=error.line)
            raise Refused("envelope-malformed", error.message, at=at) from error
        except MissingFact as error:
            raise Refused("envelope-malformed", error.message, at=at, kind=Kind.OPEN) from error


def _unexpected(path: str, slot: tuple[str, str] | None) -> Fault:
    if slot is None:
        message = "A signoff is called <gate>.<role>.dsse.json or <gate>.<role>.<n>.sigstore.json."
    else:
        message = f"{slot[1]} does not sign {slot[0]}, so nothing says what this is."
    return Fault(rule="signoff-unexpected", message=message, at=Location(path=path))
