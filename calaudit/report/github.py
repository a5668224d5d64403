"""The findings as workflow commands of GitHub Actions: annotations beside the lines they are about.

The port's verdict comes first, since GitHub shows only the first annotations of a step. A finding of level ``error``
is an ``::error``, whether it fails or is open: neither lets the gate pass. What only waits for signatures is one line a
rule.
"""

from calaudit.model import Level, Report, Result, Rule
from calaudit.report import PLAIN, Options
from calaudit.report import _sentences as say
from calaudit.report._escape import visible
from calaudit.report._groups import gate_groups, trust_groups

__all__ = ["render"]

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as workflow commands, one a line."""
    level = {0: Level.NOTE, 3: Level.WARNING}.get(report.exit_code, Level.ERROR)
    lines = [_command(level, f"calaudit: {report.verdict}", f"{say.meaning(report)} {say.next_step(report)}")]
    lines += [_command(Level.ERROR, "calaudit", note) for note in report.notes]
    for flag in report.unsafe:
        lines.append(_command(Level.WARNING, "calaudit: unsafe", f"This audit was weakened by {flag}."))
    for gate in report.gates:
        for group in gate_groups(report, gate):
            for finding in group.findings:
                lines.append(_finding(group.rules, finding, options))
    for group in trust_groups(report):
        rule = group.rules[0]
        where = ", ".join(group.gates)
        lines.append(_command(Level.WARNING, f"{rule.key} (open)", f"{rule.title}: open on {where}. Fix: {rule.fix}"))
    return "\n".join(lines) + "\n"


def _finding(rules: tuple[Rule, ...], finding: Result, options: Options) -> str:
    parts = [finding.message or rules[0].title]
    if finding.location is not None:
        parts.append(f"At: {finding.location}.")
    if finding.expected is not None:
        parts.append(f"Expected: {finding.expected}.")
    if finding.actual is not None:
        parts.append(f"Actual: {finding.actual}.")
    if len(rules) == 1:
        parts.append(f"Fix: {rules[0].fix}")
    names = ", ".join(rule.key for rule in rules)
    place: dict[str, str] = {}
    if finding.location is not None:
        place["file"] = options.path(finding.location.path)
        if finding.location.line is not None:
            place["line"] = str(finding.location.line)
    title = f"{names} ({finding.kind} on {finding.gate})"
    return _command(finding.level, title, " ".join(parts), place)


def _command(level: Level, title: str, message: str, place: dict[str, str] | None = None) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in ((place or {}) | {"title": title}).items())
    return f"::{_COMMANDS[level]} {properties}::{_data(message)}"


def _data(text: str) -> str:
    # Line breaks are visible escapes by now; the rest of GitHub's escaping is for its own delimiters.
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
