"""The report as GitHub-flavoured Markdown, for ``$GITHUB_STEP_SUMMARY`` and pull requests.

GitHub cuts a summary at 1 MiB, so a matter names at most :data:`PLACES` places and says how many more there are.
"""

import re
from collections.abc import Sequence

from calaudit.model import PORT, GateReport, Kind, Level, Report, Verdict
from calaudit.report import PLAIN, Options
from calaudit.report import _sentences as say
from calaudit.report._escape import visible
from calaudit.report._groups import (
    Group,
    Matter,
    block_groups,
    gate_groups,
    matters,
    repeated_groups,
    tally,
    trust_groups,
)
from calaudit.report._trust import because, headline, signatures, trusted, waived
from calaudit.report._weights import stopped

__all__ = ["PLACES", "prose", "render", "span"]

PLACES = 20
"""How many places of one matter are named."""

_MARKS = {
    Verdict.PASSED: "✅",
    Verdict.FAILED: "❌",
    Verdict.BLOCKED_REPRODUCIBILITY: "⛔",
    Verdict.BLOCKED_COMPILER: "⛔",
    Verdict.INCOMPLETE: "❔",
    Verdict.NOT_STARTED: "·",
}
_ACTIVE = re.compile(r"[\\`*_\[\]~$]|^[-+#=]|(?<=:)//|(?<=www)\.", re.ASCII | re.IGNORECASE)
_ORDERED = re.compile(r"^\d+(?=[.)])", re.ASCII)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as Markdown."""
    del options
    port = report.port
    about = f"{span(port.id)} · profile {span(port.profile)} · {prose(port.stage)}"
    lines = [
        f"## {_MARKS[report.verdict]} calaudit: {prose(headline(report))}",
        "",
        f"{about} · judged through {prose(report.through)} · exit {report.exit_code}",
        "",
        prose(trusted(report)),
        "",
        prose(say.meaning(report)),
        *([prose(unsigned)] if (unsigned := say.unsigned(report)) else []),
        "",
        f"**Next:** {prose(say.next_step(report))}",
        "",
    ]
    lines += [f"> **Unsafe:** this audit was weakened by {span(flag)}." for flag in report.unsafe]
    lines += [f"> **Note:** {prose(note)}" for note in report.notes]
    lines += ["", *_table(report), ""]
    repeated = repeated_groups(report)
    for gate in report.gates:
        groups = gate_groups(report, gate, but=repeated)
        if groups:
            lines += [f"### {_name(gate)}: {prose(str(gate.verdict))}", ""]
            lines += [line for group in groups for line in _group(group)]
            lines.append("")
    lines += _waived(report)
    lines += _blocking(report)
    lines += _section("On several gates: open", repeated)
    lines += _section("Signatures: not verified", trust_groups(report))
    lines.append(f"calaudit {span(report.contract_version)}, contract {span(report.contract_digest)}")
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no links, one line."""
    escaped = _ORDERED.sub(r"\g<0>\\", _ACTIVE.sub(r"\\\g<0>", visible(text)))
    shown = "".join(_ENTITIES.get(c, c) for c in escaped)
    # A space in front would indent, and four of them make a block of code.
    return f"&#32;{shown[1:]}" if shown.startswith(" ") else shown


def span(text: str) -> str:
    """A code span, also inside a table, whatever backticks or bars the text has."""
    # HTML's own element: a fence of backticks protects neither a bar in a table cell nor a backtick at an edge.
    return f"<code>{prose(text)}</code>"


def _table(report: Report) -> list[str]:
    lines = [
        "| Gate | Owner | Verdict | Technical | Passed | Failed | Waived | Open | Unsigned | Signed by |",
        "|---|---|---|---|--:|--:|--:|--:|--:|---|",
    ]
    signed = signatures(report)
    for gate in report.gates:
        counts = tally(report, gate)
        lines.append(
            f"| {_name(gate)} | {prose(gate.owners)} | {_MARKS[gate.verdict]} {prose(str(gate.verdict))} "
            f"| {prose(str(gate.technical))} | {counts.passed} | {counts.failed} | {len(gate.suppressed)} "
            f"| {counts.open} | {counts.unsigned} | {prose(', '.join(signed.get(gate.gate, ())))} |"
        )
    return lines


def _name(gate: GateReport) -> str:
    return prose(gate.title if gate.gate == PORT else f"{gate.gate} {gate.title}")


def _group(group: Group) -> list[str]:
    mark = "❔" if group.kind is Kind.OPEN else "❌" if group.level is Level.ERROR else "⚠️"
    names = ", ".join(span(rule.key) for rule in group.rules)
    lines = [f"- {mark} {names}" + (f" {prose(group.rules[0].title)}" if len(group.rules) == 1 else "")]
    for matter in matters(group):
        lines += _matter(matter)
    if group.fix is not None:
        lines.append(f"  - **Fix:** {prose(group.fix)}")
    return lines


def _waived(report: Report) -> list[str]:
    """What fails and decides nothing while its waiver lasts; never left out, however many there are."""
    results = waived(report)
    lines = [f"### Waived: {say.number(len(results), 'failure')}", ""] if results else []
    for result in results:
        lines.append(f"- ⚠️ {span(report.rule(result).key)} on {prose(result.gate)}")
        lines += _matter(Matter(message=result.message, expected=result.expected, findings=(result,)))
        if result.suppression is not None:
            lines.append(f"  - {prose(because(result.suppression))}")
    return [*lines, ""] if lines else []


def _blocking(report: Report) -> list[str]:
    groups = block_groups(report)
    lines = ["### What later gates wait for", ""] if groups else []
    for group in groups:
        rule = group.rules[0]
        lines.append(f"- ⛔ {span(rule.key)} {prose(rule.title)}: blocks {prose(stopped(group.findings))}")
        lines += [line for matter in matters(group) for line in _matter(matter)]
        lines.append(f"  - **Fix:** {prose(rule.fix)}")
    return [*lines, ""] if lines else []


def _section(name: str, groups: Sequence[Group]) -> list[str]:
    if not groups:
        return []
    lines = [f"### {name}", ""]
    for group in groups:
        rule = group.rules[0]
        said = "" if rule.trust else f" {prose(group.findings[0].message)}"
        lines.append(f"- ❔ {span(rule.key)} {prose(rule.title)}: open on {', '.join(group.gates)}.{said}")
        lines.append(f"  - **Fix:** {prose(rule.fix)}")
    return [*lines, ""]


def _matter(matter: Matter) -> list[str]:
    expected = "" if matter.expected is None else f" Expected {span(matter.expected)}."
    lines = [f"  - {prose(matter.message)}{expected}"]
    for finding in matter.findings[:PLACES]:
        where = "" if finding.location is None else span(str(finding.location))
        actual = "" if finding.actual is None else f" actual {span(finding.actual)}"
        if where or actual:
            lines.append(f"    - {where}{actual}")
    if len(matter.findings) > PLACES:
        lines.append(
            f"    - … and {say.number(len(matter.findings) - PLACES, 'more place')} (the JSON report has all)."
        )
    return lines
