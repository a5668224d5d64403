"""On what ground a gate may be signed: the files, the verdict, the signoffs below, the attestations."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from calaudit.contract import Contract
from calaudit.errors import Malformed, UsageError
from calaudit.model import PORT, Artifact, GateReport, Kind, Level, Report, Result, Verdict
from calaudit.sign.port_files import attestations, read_audited, slot
from calaudit.trust.envelope import parse_envelope, parse_statement
from calaudit.trust.signoff import APPROVE

__all__ = ["Wish", "check_ground", "depends_of", "evidence_of", "subjects_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which gate (or ``port``) somebody wants to sign for which role, and what they say."""

    gate: str
    role: str
    decision: str = APPROVE
    reason: str | None = None


def subjects_of(report: Report, contract: Contract, gate: str, role: str) -> tuple[Artifact, ...]:
    """The files that a role signs for: all of a gate's, or those of a duty over the port as a whole.

    Raises:
        UsageError: the role does not sign there.
    """
    if gate != PORT:
        signers = contract.gates.gates[gate].signers
        if role not in signers:
            raise UsageError(f"{gate} is not signed by {role}, but by {' and '.join(signers)}.")
        return next(g.artifacts for g in report.gates if g.gate == gate)
    patterns = [pattern for duty in contract.gates.duties if duty.role == role for pattern in duty.covers]
    if not patterns:
        roles = sorted({duty.role for duty in contract.gates.duties})
        raise UsageError(f"{role} signs none of the port's own files; {' and '.join(roles) or 'nobody'} does.")
    globs = [contract.gates.glob(pattern) for pattern in patterns]
    return tuple(a for g in report.gates for a in g.artifacts if any(glob.matches(a.path) for glob in globs))


def check_ground(report: Report, gate: GateReport, subjects: tuple[Artifact, ...]) -> None:
    """A yes needs the technical verdict PASSED, or a waiver for every failure; a duty, no failure in its files.

    Raises:
        UsageError: there is no ground for a yes.
    """
    findings = [r for r in gate.results if r.is_finding and r.level is Level.ERROR and not report.rule(r).trust]
    if gate.gate == PORT:
        paths = {a.path for a in subjects}
        failed = [r for r in findings if r.kind is Kind.FAIL]  # what is not delivered yet is no reason
        findings = [r for r in failed if r.location is not None and r.location.path in paths]
    elif gate.technical is Verdict.PASSED:
        return
    bare = [r for r in findings if r.kind is not Kind.FAIL or r.suppression is None]
    if not bare and (findings or gate.gate == PORT):
        return
    told = "; ".join(_told(r) for r in bare[:3])
    raise UsageError(
        f"{gate.gate} cannot be approved: its technical verdict is {gate.technical} ({len(bare)} finding(s) that no "
        f"waiver covers{': ' + told if told else ''}). Repair it, or reject it: --decision reject --reason …"
    )


def depends_of(port: Path, report: Report, contract: Contract, wish: Wish) -> Iterator[tuple[tuple[str, str], str]]:
    """The payload digests of the signoffs that this one rests on, by gate and role.

    Raises:
        UsageError: one is missing or does not hold, and the decision is to approve.
    """
    spec = contract.gates.gates.get(wish.gate)
    for name in () if spec is None else spec.depends:
        below = contract.gates.gates[name]
        gate = next(g for g in report.gates if g.gate == name)
        if wish.decision == APPROVE:
            _check_below(report, gate)
        for role in below.signers:
            found = slot(port, name, role)
            if found:
                yield (name, role), hashlib.sha256(found[0].payload).hexdigest()
            elif wish.decision == APPROVE:
                raise UsageError(f"{wish.gate} rests on {name}, which {role} has not signed yet.")


def evidence_of(port: Path, report: Report, contract: Contract, gate: str) -> Iterator[tuple[str, str]]:
    """The attestations of steps of this gate."""
    for path in attestations(report):
        data = read_audited(port, path, report)
        try:
            statement = parse_statement(parse_envelope(path, data), "provenance/v1", contract.schemas)
        except Malformed:
            continue  # another kind of attestation, or a broken one, which the audit reports
        if statement["predicate"]["buildDefinition"]["externalParameters"]["gate"] == gate:
            yield path, hashlib.sha256(data).hexdigest()


def _check_below(report: Report, gate: GateReport) -> None:
    """The signoffs of a gate below hold; one that is missing is told by its file."""
    for result in gate.results:
        if not report.rule(result).trust or result.level is not Level.ERROR or result.rule == "signoff-missing":
            continue
        if result.kind is Kind.FAIL or (result.kind is Kind.OPEN and result.rule.startswith("signoff-")):
            raise UsageError(f"What {gate.gate} was signed with does not hold ({_told(result)}).")


def _told(result: Result) -> str:
    at = "" if result.location is None else f" {result.location}"
    return f"{result.rule}{at}: {result.message}"
