"""From results to what a report says of a gate."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import rfc8785

from calaudit.checks import Check
from calaudit.contract import Contract
from calaudit.facts import Facts
from calaudit.judgement import judge, worse
from calaudit.model import Artifact, Gate, GateReport, Port, Result, Suppression, TechnicalVerdict, Verdict
from calaudit.trust import Signed

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.waiver import Waiver

__all__ = ["gate_report", "not_started", "suppressed", "technical_verdict", "with_block"]


def suppressed(result: Result, waivers: "Iterable[Waiver]") -> Result:
    """The result with the waiver that covers it, if one does."""
    waiver = next((w for w in waivers if w.reaches(result)), None)
    if waiver is None:
        return result
    return replace(
        result,
        suppression=Suppression(
            waiver=waiver.path,
            reason=waiver.reason,
            ticket=waiver.ticket,
            until=f"{waiver.until:%Y-%m-%dT%H:%M:%SZ}",
            by=tuple(sorted({f"{signer.owner.name} ({signer.role})" for signer in waiver.signers})),
        ),
    )


def technical_verdict(
    contract: Contract, facts: Facts, gate: str, port: Port, results: Sequence[Result]
) -> TechnicalVerdict:
    """What a gate's technical results come to, and the digest of all of it, which signoffs bind."""
    verdict = judge(results)
    body = {
        "gate": gate,
        "contract": contract.digest,
        # The profile's numbers judge, and results do not always show them.
        "port": [port.id, port.profile, port.stage],
        "verdict": str(verdict),
        "files": [[entry.path, entry.sha256] for entry in facts.evidence.of_gate(gate)],
        "results": sorted(_digestible(r) for r in results),
    }
    digest = hashlib.sha256(rfc8785.dumps(body)).hexdigest()
    return TechnicalVerdict(verdict=verdict, digest=digest, results=tuple(results))


def gate_report(  # noqa: PLR0913, PLR0917 - the members of a report
    contract: Contract,
    facts: Facts,
    gate: str,
    wanted: Sequence[Check],
    results: Sequence[Result],
    technical: TechnicalVerdict,
    signatures: Signed,
) -> GateReport:
    """The report of a gate that was judged; ``results`` are all of its results, the waived ones with their waiver."""
    spec = contract.gates.gates.get(gate)
    files = facts.evidence.of_gate(gate)
    signoffs = [slot.signoff for slot in signatures.of_gate(gate) if slot.signoff is not None]
    return GateReport(
        gate=gate,
        title=spec.title if spec else "Port",
        owner=spec.owner if spec else "release",
        cosigners=spec.cosigners if spec else (),
        back_to=spec.back_to if spec else "the port's owner",
        verdict=judge(results),
        technical=technical.verdict,
        technical_digest=technical.digest,
        planned=len(wanted),
        files=len(files),
        results=tuple(sorted(results, key=_sort_key)),
        artifacts=tuple(Artifact(path=entry.path, sha256=entry.sha256, size=entry.size) for entry in files),
        owned_by=_owned_by(signatures, spec.signers if spec else ()),
        signed_by=tuple(dict.fromkeys(f"{s.owner.name} ({s.role})" for signoff in signoffs for s in signoff.signers)),
    )


def _owned_by(signatures: Signed, roles: Iterable[str]) -> tuple[str, ...]:
    """Who answers for these roles by the registry, if there is one."""
    registry = signatures.trust.registry
    owned = [] if registry is None else [role for role in map(registry.role, roles) if role is not None]
    return tuple(f"{owner.name} ({role.name})" for role in owned for owner in role.owners)


def with_block(report: GateReport, block: Verdict | None) -> GateReport:
    """The report with the block that another gate, or the port, puts on the gate."""
    return report if block is None else replace(report, verdict=worse(report.verdict, block))


def not_started(gate: Gate, block: Verdict | None, signatures: Signed) -> GateReport:
    """The report of a gate that was not judged."""
    return GateReport(
        gate=gate.id,
        title=gate.title,
        owner=gate.owner,
        cosigners=gate.cosigners,
        back_to=gate.back_to,
        verdict=block or Verdict.NOT_STARTED,
        technical=Verdict.NOT_STARTED,
        technical_digest="",
        planned=0,
        files=0,
        results=(),
        owned_by=_owned_by(signatures, gate.signers),
    )


def _sort_key(result: Result) -> tuple[object, ...]:
    place = result.location
    return (result.rule, (place.path, place.line or 0, place.pointer or "") if place else ("", 0, ""), result.message)


def _digestible(result: Result) -> list[str | int]:
    return [
        result.rule,
        str(result.kind),
        str(result.level),
        str(result.location or ""),
        result.message,
        result.expected or "",
        result.actual or "",
        result.examined,
    ]
