"""The report as JUnit XML: a suite for each gate, a case for each rule.

JUnit knows three ways not to be green, and every finding takes one of them:

- ``fail`` of level error: ``<failure>``;
- ``open`` of level error: ``<error>``, since the rule could not be judged, and it must not look like success;
- a warning or note, what only stops other gates, and a failure that is waived: ``<skipped>``, with the details (and
  the waiver) in ``<system-out>``; it does not decide the verdict of its gate either, and must not look like success.

``notApplicable`` is ``<skipped>`` as well, and says why. A gate whose cases alone would look better than its verdict
(blocked by another gate, not started) gets a case ``verdict`` that says it. Times are zero: a report has no clock.
"""

from xml.etree import ElementTree as ET

from calaudit.model import GateReport, Kind, Report, Result, Verdict
from calaudit.report import PLAIN, Options
from calaudit.report._escape import visible
from calaudit.report._groups import by_rule, worst
from calaudit.report._sentences import blocked, meaning, number
from calaudit.report._trust import because, headline, trusted, unsafe
from calaudit.report._weights import decides, stopped

__all__ = ["render"]

_COUNTED = {
    "tests": "testcase",
    "failures": "testcase/failure",
    "errors": "testcase/error",
    "skipped": "testcase/skipped",
}


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as JUnit XML."""
    del options
    weak = f": {headline(report)}" if report.unsafe else ""
    root = ET.Element("testsuites", name=visible(f"calaudit {report.port.id}{weak}"))
    for gate in report.gates:
        root.append(_suite(report, gate))
    for name in _COUNTED:
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", "0")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report, gate: GateReport) -> ET.Element:
    suite = ET.Element("testsuite", name=visible(f"{gate.gate} {gate.title}"))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(report, gate).items():
        ET.SubElement(properties, "property", name=name, value=visible(value))
    for results in by_rule(gate.results).values():
        suite.append(_case(report, gate, results))
    if not _tells(suite, gate.verdict):
        suite.append(_verdict_case(report, gate))
    for name, path in _COUNTED.items():
        suite.set(name, str(len(suite.findall(path))))
    suite.set("time", "0")
    return suite


def _properties(report: Report, gate: GateReport) -> dict[str, str]:
    return {
        "port": report.port.id,
        "verdict": f"{gate.verdict}{unsafe(report)}",
        "technical": str(gate.technical),
        "technical_digest": gate.technical_digest,
        "owner": gate.owners,
        "signed_by": ", ".join(dict.fromkeys(gate.signed_by)),
        "waived": str(len(gate.suppressed)),
        "trust": trusted(report),
        "contract_version": report.contract_version,
        "contract_digest": report.contract_digest,
    }


def _case(report: Report, gate: GateReport, results: list[Result]) -> ET.Element:
    rule = report.rule(results[0])
    case = ET.Element("testcase", classname=f"calaudit.{gate.gate}", name=visible(rule.key), time="0")
    kind = worst(results)
    if kind is Kind.PASS:
        return case
    shown = [r for r in results if r.kind is kind]
    if kind is Kind.NOT_APPLICABLE:
        ET.SubElement(case, "skipped", message=visible(f"not applicable: {shown[0].message}"))
        return case
    findings = [r for r in results if r.is_finding]
    more = f" (and {number(len(findings) - 1, 'more finding')})" if len(findings) > 1 else ""
    summary = visible(f"{shown[0].message or rule.title}{more}")
    details = "\n".join([*map(_details, findings), visible(f"Why: {rule.why}"), visible(f"Fix: {rule.fix}")])
    if not any(map(decides, findings)):
        gates = stopped(findings)
        waivers = dict.fromkeys(because(r.suppression) for r in findings if r.suppression is not None)
        why = "; ".join(waivers) or (f"blocks {gates}" if gates else f"{rule.level} ({kind})")
        ET.SubElement(case, "skipped", message=f"{visible(why)}, does not decide: {summary}")
        ET.SubElement(case, "system-out").text = details
    else:
        tag = "failure" if kind is Kind.FAIL else "error"
        ET.SubElement(case, tag, message=summary, type=f"calaudit.{kind}").text = details
    return case


def _details(finding: Result) -> str:
    lines = [f"{finding.kind}: {finding.message}"]
    if finding.location is not None:
        lines.append(f"  at {finding.location}")
    if finding.expected is not None:
        lines.append(f"  expected {finding.expected}")
    if finding.actual is not None:
        lines.append(f"  actual   {finding.actual}")
    if finding.suppression is not None:
        lines.append(f"  {because(finding.suppression)}")
    return "\n".join(map(visible, lines))


def _tells(suite: ET.Element, verdict: Verdict) -> bool:
    """Whether the cases of a suite look no better than the gate's verdict."""
    if verdict is Verdict.PASSED:
        return True
    failed = suite.find("testcase/failure") is not None
    return failed or (verdict is not Verdict.FAILED and suite.find("testcase/error") is not None)


def _verdict_case(report: Report, gate: GateReport) -> ET.Element:
    case = ET.Element("testcase", classname=f"calaudit.{gate.gate}", name="verdict", time="0")
    if gate.verdict is Verdict.NOT_STARTED:
        ET.SubElement(case, "skipped", message="NOT_STARTED: not claimed, and no file is there.")
        return case
    is_blocked = gate.verdict in (Verdict.BLOCKED_COMPILER, Verdict.BLOCKED_REPRODUCIBILITY)
    why = blocked(gate.gate, gate.verdict) if is_blocked else meaning(report)
    if not gate.planned:
        ET.SubElement(case, "skipped", message=visible(f"{gate.verdict}: {why} Not claimed."))
        return case
    tag = "failure" if gate.verdict is Verdict.FAILED else "error"
    ET.SubElement(case, tag, message=visible(f"{gate.verdict}: {why}"), type=f"calaudit.{gate.verdict}")
    return case
