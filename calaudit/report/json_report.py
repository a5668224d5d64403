"""The report as one JSON document, ``calaudit-report/v1``: everything that the audit knows, for programs.

Strings are exact. Characters that a terminal would obey or hide are written as JSON escapes, so that the text of the
document is harmless and its value unchanged; only a lone surrogate, which no strict parser takes, becomes visible text.
"""

import re
from collections.abc import Callable
from typing import Any

import orjson

from calaudit.model import GateReport, Location, Report, Result, Rule, Suppression
from calaudit.report import PLAIN, Options
from calaudit.report._escape import INVISIBLE

__all__ = ["TAG", "document", "dumps", "render", "trust_document"]

TAG = "calaudit-report/v1"
_SURROGATE = re.compile("[\ud800-\udfff]")


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as JSON, indented."""
    del options
    return dumps(document(report))


def document(report: Report) -> dict[str, Any]:
    """The report as JSON data; ``schemas/report/v1.json`` describes it."""
    return {
        "schema": TAG,
        "contract": {"version": report.contract_version, "digest": report.contract_digest},
        "port": {
            "id": report.port.id,
            "profile": report.port.profile,
            "stage": report.port.stage,
            "claim": report.port.claim,
        },
        "through": report.through,
        "verdict": str(report.verdict),
        "exit_code": report.exit_code,
        "unsafe": list(report.unsafe),
        "waived": sum(len(gate.suppressed) for gate in report.gates),
        "trust": trust_document(report),
        # Without trust nothing can expire, and the same port gives the same report on every day.
        "judged_at": report.judged_at if report.trust is not None else None,
        "notes": list(report.notes),
        "gates": [_gate(report, gate) for gate in report.gates],
        "rules": {key: _rule(report.rules[key]) for key in sorted(report.rules)},
    }


def trust_document(report: Report, *, shown: Callable[[str], str] = str) -> dict[str, Any] | None:
    """What the audit trusted; None where no root is pinned. ``shown`` is applied to strings that others wrote."""
    trust = report.trust
    if trust is None:
        return None
    return {
        "origin": shown(trust.origin),
        "label": None if trust.label is None else shown(trust.label),
        "root_version": trust.root_version,
        "registry_version": trust.registry_version,
        "registry_digest": trust.registry_digest,
        "rollback_checked": trust.rollback_checked,
    }


def dumps(value: Any) -> str:
    """JSON text, indented, ending with a line feed, in which no invisible character stands as itself."""
    text = orjson.dumps(_encodable(value), option=orjson.OPT_INDENT_2).decode()
    # The only line feeds are those of the indentation: orjson has escaped those inside strings.
    return "\n".join(INVISIBLE.sub(_escaped, line) for line in text.split("\n")) + "\n"


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", value)
    if isinstance(value, dict):
        return {_encodable(k): _encodable(v) for k, v in value.items()}
    return [_encodable(v) for v in value] if isinstance(value, list) else value


def _gate(report: Report, gate: GateReport) -> dict[str, Any]:
    return {
        "gate": gate.gate,
        "title": gate.title,
        "owner": gate.owner,
        "back_to": gate.back_to,
        "verdict": str(gate.verdict),
        "technical": str(gate.technical),
        "technical_digest": gate.technical_digest or None,
        "planned": gate.planned,
        "files": gate.files,
        "artifacts": [{"path": a.path, "sha256": a.sha256, "bytes": a.size} for a in gate.artifacts],
        "owned_by": list(gate.owned_by),
        "signed_by": list(gate.signed_by),
        "results": [_result(report, result) for result in gate.results],
    }


def _result(report: Report, result: Result) -> dict[str, Any]:
    return {
        "rule": report.rule(result).key,
        "kind": str(result.kind),
        "level": str(result.level),
        "message": result.message,
        "location": _location(result.location),
        "expected": result.expected,
        "actual": result.actual,
        "examined": result.examined,
        "blocks": None if result.blocks is None else str(result.blocks),
        "blocked_gates": list(result.blocked_gates),
        "suppression": _suppression(result.suppression),
    }


def _suppression(suppression: Suppression | None) -> dict[str, Any] | None:
    if suppression is None:
        return None
    return {
        "waiver": suppression.waiver,
        "reason": suppression.reason,
        "ticket": suppression.ticket,
        "until": suppression.until,
        "by": list(suppression.by),
    }


def _location(location: Location | None) -> dict[str, Any] | None:
    if location is None:
        return None
    return {"path": location.path, "line": location.line, "pointer": location.pointer}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "gate": rule.gate,
        "level": str(rule.level),
        "title": rule.title,
        "why": rule.why,
        "fix": rule.fix,
        "kinds": sorted(str(kind) for kind in rule.kinds),
        "tier": rule.tier,
        "since": rule.since,
        "trust": rule.trust,
        "unwaivable": rule.unwaivable,
        "back_to": rule.back_to,
    }
