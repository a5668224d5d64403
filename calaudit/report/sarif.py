"""The report as SARIF 2.1.0 (OASIS Standard), a result for each rule on each gate and place.

Where the standard leaves a choice:

- ``kind`` is calaudit's own; whatever is not ``fail`` has the level ``none`` (§3.27.10). A consumer that looks at
  levels alone would take ``open`` for harmless, so the port's verdict is in the run's properties and exit code.
- A result without a place is about what the port claims: its location is ``port.yaml``, without a region, because
  consumers refuse results without a location. A line is a region; a JSON pointer is a logical location.
- URIs are relative to the port, percent-encoded. Where the port stands in a checkout, its base is relative to that.
- Fingerprints leave out the line, so that an edit above does not make a finding new.
- A failure that is waived has an external suppression that is accepted (§3.35). Where signatures were looked at, every
  result has ``suppressions``, most of them empty (§3.27.23: all results of a run, or none).
- ``{``, ``}`` and ``[`` have a meaning in messages (§3.11.5, §3.11.6) and are escaped.
"""

import hashlib
from collections import Counter
from typing import Any
from urllib.parse import quote

from calaudit.model import GateReport, Kind, Location, Report, Result, Rule, Suppression
from calaudit.report import PLAIN, Options
from calaudit.report._escape import visible
from calaudit.report._trust import headline
from calaudit.report.json_report import dumps, trust_document

__all__ = ["SCHEMA", "document", "render"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
"""Where OASIS keeps the schema that the output follows."""

_PORT = Location(path="port.yaml")


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as SARIF, indented."""
    return dumps(document(report, options))


def document(report: Report, options: Options = PLAIN) -> dict[str, Any]:
    """The report as SARIF data."""
    keys = sorted(report.rules)
    index = {key: n for n, key in enumerate(keys)}
    seen: Counter[str] = Counter()
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "calaudit",
                        "version": report.contract_version,
                        "rules": [_rule(report.rules[key]) for key in keys],
                    }
                },
                "automationDetails": {"id": f"calaudit/{visible(report.port.id)}/"},
                "invocations": [_invocation(report)],
                "originalUriBaseIds": _bases(options),
                "columnKind": "unicodeCodePoints",
                "results": [_result(report, index, seen, r) for r in report.results],
                "properties": _properties(report),
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.key,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": visible(rule.title)},
        "fullDescription": {"text": visible(rule.why)},
        "help": {"text": visible(f"{rule.why} Fix: {rule.fix}")},
        "defaultConfiguration": {"level": str(rule.level)},
        "properties": {
            "gate": rule.gate,
            "tier": rule.tier,
            "since": rule.since,
            "trust": rule.trust,
            "unwaivable": rule.unwaivable,
        },
    }


def _invocation(report: Report) -> dict[str, Any]:
    notes = [("error" if report.exit_code == 4 else "note", note) for note in report.notes]
    notes += [("warning", f"This audit was weakened by {flag}.") for flag in report.unsafe]
    return {
        "executionSuccessful": report.exit_code != 4,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [{"level": level, "message": _message(note)} for level, note in notes],
    }


def _bases(options: Options) -> dict[str, Any]:
    port: dict[str, Any] = {"description": {"text": "The port directory, which holds port.yaml."}}
    if not options.root:
        return {"PORT": port}
    top = {"description": {"text": "The directory in which calaudit was run."}}
    return {"PORT": {"uri": f"{_uri(options.root)}/", "uriBaseId": "%SRCROOT%"} | port, "%SRCROOT%": top}


def _result(report: Report, index: dict[str, int], seen: Counter[str], result: Result) -> dict[str, Any]:
    rule = report.rule(result)
    text = result.message or rule.title
    known = report.trust is not None or any(gate.suppressed for gate in report.gates)
    for label, value in (("Expected", result.expected), ("Actual", result.actual)):
        text += "" if value is None else f" {label}: {value}."
    return {
        "ruleId": rule.key,
        "ruleIndex": index[rule.key],
        "kind": str(result.kind),
        "level": str(result.level) if result.kind is Kind.FAIL else "none",
        "message": _message(text),
        "locations": [_location(result.location or _PORT)],
        "partialFingerprints": {"calauditFinding/v1": _fingerprint(rule, seen, result)},
        **({"suppressions": _suppressions(result.suppression)} if known else {}),
        "properties": {
            "gate": result.gate,
            "level": str(result.level),
            "examined": result.examined,
            **({"expected": visible(result.expected)} if result.expected is not None else {}),
            **({"actual": visible(result.actual)} if result.actual is not None else {}),
            **({"blocks": str(result.blocks)} if result.blocks is not None else {}),
        },
    }


def _suppressions(suppression: Suppression | None) -> list[dict[str, Any]]:
    if suppression is None:
        return []
    return [
        {
            "kind": "external",
            "status": "accepted",
            "justification": visible(f"{suppression.reason} ({suppression.ticket})"),
            "location": _location(Location(path=suppression.waiver)),
            "properties": {
                "ticket": visible(suppression.ticket),
                "until": suppression.until,
                "by": [visible(name) for name in suppression.by],
            },
        }
    ]


def _message(text: str) -> dict[str, str]:
    escaped = visible(text).replace("{", "{{").replace("}", "}}")
    # Only "](" makes a link, and a backslash before its opening bracket unmakes it.
    return {"text": escaped.replace("[", "\\[") if "](" in escaped else escaped}


def _location(location: Location) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(location.path), "uriBaseId": "PORT"}}
    if location.line is not None:
        physical["region"] = {"startLine": location.line}
    found: dict[str, Any] = {"physicalLocation": physical}
    if location.pointer is not None:
        found["logicalLocations"] = [{"fullyQualifiedName": visible(f"#{location.pointer}"), "kind": "value"}]
    return found


def _uri(path: str) -> str:
    # Everything but unreserved characters and the slash: a colon in the first segment would read as a scheme.
    return quote(visible(path), safe="/")


def _fingerprint(rule: Rule, seen: Counter[str], result: Result) -> str:
    place = result.location or _PORT
    # A pointer says which value is meant; without one only the message does.
    which = place.pointer if place.pointer is not None else result.message
    key = "\0".join(map(visible, (rule.key, result.gate, place.path, which)))
    seen[key] += 1
    return hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()


def _properties(report: Report) -> dict[str, Any]:
    return {
        "verdict": headline(report),
        "unsafe": [visible(flag) for flag in report.unsafe],
        "waived": sum(len(gate.suppressed) for gate in report.gates),
        "trust": trust_document(report, shown=visible),
        "through": report.through,
        "contractDigest": report.contract_digest,
        "gates": [_gate(gate) for gate in report.gates],
    }


def _gate(gate: GateReport) -> dict[str, Any]:
    return {
        "gate": gate.gate,
        "verdict": str(gate.verdict),
        "technical": str(gate.technical),
        "technicalDigest": gate.technical_digest,
        "signedBy": [visible(name) for name in gate.signed_by],
    }
