"""The findings as workflow commands of GitHub Actions: annotations beside the lines they are about.

The port's verdict comes first, since GitHub shows only the first annotations of a step; then what fails, as
``::error``; then every failure that is waived, and what is open, as ``::warning``; last what decides nothing, as
``::notice``. Of each a gate shows at most :data:`LISTED` (but of what is waived, all), and one line counts the rest.
What only waits for signatures is one line a rule, and what follows from a change one line behind its causes.
"""

from collections.abc import Iterator
from itertools import islice

from calaudit.model import GateReport, Kind, Level, Report, Result, Rule
from calaudit.report import PLAIN, Options
from calaudit.report import _sentences as say
from calaudit.report._escape import visible
from calaudit.report._follows import HEADING, folds
from calaudit.report._groups import block_groups, gate_groups, trust_groups
from calaudit.report._trust import because, headline, signatures, trusted, waived
from calaudit.report._weights import decides, stopped

__all__ = ["LISTED", "render"]

LISTED = 10
"""How many findings of a gate are annotated: GitHub keeps ten of each level of a step."""

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as workflow commands, one a line."""
    level = {0: Level.NOTE, 3: Level.WARNING}.get(report.exit_code, Level.ERROR)
    told = f"{say.meaning(report)} {say.next_step(report)} Judged under {trusted(report)}."
    lines = [_command(level, f"calaudit: {headline(report)}", told)]
    lines += [_command(Level.ERROR if report.exit_code == 4 else Level.NOTE, "calaudit", note) for note in report.notes]
    for flag in report.unsafe:
        lines.append(_command(Level.WARNING, "calaudit: unsafe", f"This audit was weakened by {flag}."))
    for weight in (Level.ERROR, Level.WARNING, Level.NOTE):
        for gate in report.gates:
            lines += _annotations(report, gate, weight, options)
        lines += _follows(report, weight)
        if weight is Level.ERROR:
            lines += _waived(report, options)
        if weight is Level.WARNING:
            lines += _unsigned(report)
    for group in block_groups(report):
        rule = group.rules[0]
        message = f"{rule.title}: blocks {stopped(group.findings)}, and decides no other verdict. Fix: {rule.fix}"
        lines.append(_command(Level.NOTE, f"{rule.key} (blocks later gates)", message))
    signed = "; ".join(f"{gate} by {', '.join(names)}" for gate, names in signatures(report).items())
    if signed:
        lines.append(_command(Level.NOTE, "calaudit: signed", f"{signed}."))
    return "\n".join(lines) + "\n"


def _annotations(report: Report, gate: GateReport, weight: Level, options: Options) -> Iterator[str]:
    """The findings of a gate that weigh so much, and a line that names the rules of those that are left out."""
    found = ((group.rules, f) for group in gate_groups(report, gate) for f in group.findings if _weight(f) is weight)
    for rules, finding in islice(found, LISTED):
        yield _finding(rules, finding, weight, options)
    rest = list(found)
    if rest:
        names = ", ".join(dict.fromkeys(rule.key for rules, _ in rest for rule in rules))
        message = f"{say.number(len(rest), 'more finding')} of {names}; another format, such as -o json, has them all."
        yield _command(weight, f"{gate.gate}: {len(rest)} more", message)


def _follows(report: Report, weight: Level) -> Iterator[str]:
    """What is wrong only since something changed: one line, behind what is wrong with the port itself."""
    for fold in folds(report):
        # Findings that decide nothing are notices, as in `_weight`.
        if weight is (Level.ERROR if fold.level is Level.ERROR else Level.NOTE):
            said = " ".join(f"{m.message or 'It is stale.'}" for m in fold.told)
            more = f" And {fold.more} more; another format, such as -o json, has them all." if fold.more else ""
            yield _command(weight, f"{HEADING}: {fold.names}", f"{said}{more} Fix: {fold.fix}")


def _waived(report: Report, options: Options) -> Iterator[str]:
    """Every failure that a waiver covers, however many there are."""
    for result in waived(report):
        rule = report.rule(result)
        reason = "" if result.suppression is None else f" It is {because(result.suppression)}."
        title = f"{rule.key} (waived on {result.gate})"
        parts = f"{_told(result, rule)}{reason}"
        yield _command(Level.WARNING, title, parts, _place(result, options))


def _weight(finding: Result) -> Level:
    if not decides(finding):
        return Level.NOTE
    return Level.ERROR if finding.kind is Kind.FAIL else Level.WARNING


def _unsigned(report: Report) -> Iterator[str]:
    for group in trust_groups(report):
        rule = group.rules[0]
        where = ", ".join(group.gates)
        yield _command(Level.WARNING, f"{rule.key} (open)", f"{rule.title}: open on {where}. Fix: {rule.fix}")


def _finding(rules: tuple[Rule, ...], finding: Result, weight: Level, options: Options) -> str:
    fix = f" Fix: {rules[0].fix}" if len(rules) == 1 else ""
    names = ", ".join(rule.key for rule in rules)
    title = f"{names} ({finding.kind} on {finding.gate})"
    return _command(weight, title, f"{_told(finding, rules[0])}{fix}", _place(finding, options))


def _told(finding: Result, rule: Rule) -> str:
    parts = [finding.message or rule.title]
    if finding.location is not None:
        parts.append(f"At: {finding.location}.")
    if finding.expected is not None:
        parts.append(f"Expected: {finding.expected}.")
    if finding.actual is not None:
        parts.append(f"Actual: {finding.actual}.")
    return " ".join(parts)


def _place(finding: Result, options: Options) -> dict[str, str]:
    place: dict[str, str] = {}
    if finding.location is not None:
        path = options.path(finding.location.path)
        if path is not None:
            place["file"] = path
        if path is not None and finding.location.line is not None:
            place["line"] = str(finding.location.line)
    return place


def _command(level: Level, title: str, message: str, place: dict[str, str] | None = None) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in ((place or {}) | {"title": title}).items())
    return f"::{_COMMANDS[level]} {properties}::{_data(message)}"


def _data(text: str) -> str:
    # Line breaks are visible escapes by now; the rest of GitHub's escaping is for its own delimiters.
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
