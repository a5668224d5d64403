"""The verification summary (SLSA VSA v1): what an audit said of a port, for those who will not repeat it.

SLSA knows PASSED and FAILED only. Whatever is not a pass without reservation is FAILED there; calaudit's own verdict,
what is waived and what weakened the audit stand in ``calaudit_summary``.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote

from calaudit.errors import UsageError
from calaudit.model import PORT, GateReport, Level, Report, Result, Verdict
from calaudit.sign.statements import moment
from calaudit.trust.envelope import STATEMENT

__all__ = ["VERIFIER", "vsa_statement"]

PREDICATE = "https://slsa.dev/verification_summary/v1"
VERIFIER = "urn:calaudit:verifier:v1"

_PAPERS = ("signoffs/", "waivers/", "attestations/")


def vsa_statement(report: Report, *, now: datetime) -> dict[str, Any]:
    """The statement about every file that the audit read; ``now`` is when it ran.

    Raises:
        UsageError: no file was read, so there is nothing to make a statement about.
    """
    files = {artifact.path: artifact.sha256 for gate in report.gates for artifact in gate.artifacts}
    if not files:
        raise UsageError("No file of the port could be read, so there is nothing to summarize.")
    passed = _passed(report)
    return {
        "_type": STATEMENT,
        "subject": [_resource(path, files[path]) for path in sorted(files)],
        "predicateType": PREDICATE,
        "predicate": {
            "verifier": {"id": VERIFIER, "version": {"calaudit": report.contract_version}},
            "timeVerified": moment(now),
            "resourceUri": f"urn:calaudit:port:{quote(report.port.id, safe='')}",
            "policy": {
                "uri": f"urn:calaudit:contract:{report.contract_version}",
                "digest": {"sha256": report.contract_digest},
            },
            "inputAttestations": [_resource(path, files[path]) for path in _used(report)],
            "verificationResult": "PASSED" if passed else "FAILED",
            "verifiedLevels": [f"CALAUDIT_{report.through}" if passed else "FAILED"],
            "calaudit_summary": _summary(report),
        },
    }


def _passed(report: Report) -> bool:
    """Who reads SLSA's members only must not take for a pass what the audit was talked into."""
    return report.verdict is Verdict.PASSED and report.exit_code == 0 and not report.unsafe


def _used(report: Report) -> Iterator[str]:
    """The envelopes that were verified and hold: without a registry none was, and one with a finding does not."""
    if report.trust is None or report.trust.registry_version is None:
        return
    broken = {r.location.path for r in report.findings if r.location is not None and _breaks(report, r)}
    for gate in report.gates:
        if gate.gate == PORT:
            papers = (a.path for a in gate.artifacts if a.path.startswith(_PAPERS))
            yield from sorted(path for path in papers if path not in broken)


def _breaks(report: Report, result: Result) -> bool:
    return result.level is Level.ERROR and report.rule(result).trust


def _summary(report: Report) -> dict[str, Any]:
    trust = report.trust
    registry = None
    if trust is not None and trust.registry_version is not None:
        registry = {"version": trust.registry_version, "digest": trust.registry_digest, "label": trust.label}
    return {
        "verdict": str(report.verdict),
        "exit_code": report.exit_code,
        "through": report.through,
        "profile": report.port.profile,
        "stage": report.port.stage,
        "judged_at": report.judged_at,
        "gates": [_gate(gate) for gate in report.gates if gate.planned],
        "suppressions": [_suppression(report, result) for gate in report.gates for result in gate.suppressed],
        "unsafe": list(report.unsafe),
        "registry": registry,
        "root_version": None if trust is None else trust.root_version,
        "rollback_checked": trust is not None and trust.rollback_checked,
    }


def _gate(gate: GateReport) -> dict[str, Any]:
    return {
        "gate": gate.gate,
        "verdict": str(gate.verdict),
        "technical": str(gate.technical),
        "technical_digest": gate.technical_digest or None,
        "signed_by": list(gate.signed_by),
    }


def _suppression(report: Report, result: Result) -> dict[str, Any]:
    waiver, place = result.suppression, result.location
    assert waiver is not None  # noqa: S101 - the gate's suppressed results have one
    assert place is not None  # noqa: S101 - a waiver reaches a result by its file
    return {
        "gate": result.gate,
        "rule": report.rule(result).key,
        "path": place.path,
        "waiver": waiver.waiver,
        "reason": waiver.reason,
        "ticket": waiver.ticket,
        "until": waiver.until,
        "by": list(waiver.by),
    }


def _resource(name: str, digest: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": digest}}
