"""The report as GitHub-flavoured Markdown, for ``$GITHUB_STEP_SUMMARY`` and pull requests.

GitHub cuts a summary at 1 MiB, so a matter names at most :data:`PLACES` places and says how many more there are.
"""

from collections.abc import Sequence

from calaudit.model import PORT, GateReport, Kind, Level, Report, Verdict
from calaudit.report import PLAIN, Options
from calaudit.report import _sentences as say
from calaudit.report._alike import Matter, cut, matters
from calaudit.report._follows import HEADING, folds, stale_here
from calaudit.report._groups import (
    Group,
    block_groups,
    follow_groups,
    gate_groups,
    repeated_groups,
    tally,
    trust_groups,
)
from calaudit.report._prose import prose, span, told
from calaudit.report._trust import because, headline, signatures, trusted, waived
from calaudit.report._weights import stopped

__all__ = ["PLACES", "render"]

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


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as Markdown."""
    port = report.port
    about = f"{span(port.id)} · profile {span(port.profile)} · {prose(port.stage)}"
    lines = [
        f"## {_MARKS[report.verdict]} calaudit: {prose(headline(report))}",
        "",
        f"{about} · judged through {prose(report.through)} · exit {report.exit_code}",
        "",
        prose(trusted(report)),
        "",
        told(say.meaning(report)),
        *([told(unsigned)] if (unsigned := say.unsigned(report)) else []),
        "",
        f"**Next:** {told(say.next_step(report))}",
        "",
    ]
    lines += [f"> **Unsafe:** this audit was weakened by {span(flag)}." for flag in report.unsafe]
    lines += [f"> **Note:** {prose(note)}" for note in report.notes]
    lines += ["", *_table(report), ""]
    repeated = repeated_groups(report)
    for gate in report.gates:
        groups = gate_groups(report, gate, but=repeated)
        stale = stale_here(report, gate)
        if groups:
            lines += [f"### {_name(gate)}: {prose(str(gate.verdict))}", ""]
            lines += [line for group in groups for line in _group(group, whole=options.verbose)]
            lines += [f"- Signed before it changed (see below): {', '.join(map(span, stale))}"] if stale else []
            lines.append("")
    lines += _follows(report, options)
    lines += _waived(report, options)
    lines += _blocking(report, options)
    lines += _section("On several gates: open", repeated)
    name = say.left(report.findings, report)
    heading = f"{name[0].upper()}{name[1:]}: not verified"
    # Most of it closes when what changed is run and signed again, which is told above.
    brief = any(stale_here(report, gate) for gate in report.gates) and not options.verbose
    lines += _section(heading, trust_groups(report), brief=brief, whole=options.verbose)
    lines.append(f"calaudit {span(report.contract_version)}, contract {span(report.contract_digest)}")
    return "\n".join(lines) + "\n"


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


def _group(group: Group, *, whole: bool) -> list[str]:
    mark = "❔" if group.kind is Kind.OPEN else "❌" if group.level is Level.ERROR else "⚠️"
    names = ", ".join(span(rule.key) for rule in group.rules)
    lines = [f"- {mark} {names}" + (f" {told(group.rules[0].title)}" if len(group.rules) == 1 else "")]
    for matter in matters(group):
        lines += _matter(matter, whole=whole)
    if group.fix is not None:
        lines.append(f"  - **Fix:** {told(group.fix)}")
    return lines


def _follows(report: Report, options: Options) -> list[str]:
    """What is wrong only since something changed, after what is wrong with the port itself."""
    groups = follow_groups(report)
    lines = [f"### {HEADING}", ""] if groups else []
    if options.verbose:
        return [*lines, *(line for group in groups for line in _group(group, whole=True)), *([""] if lines else [])]
    for fold in folds(report):
        names = ", ".join(f"{span(key)} ({count})" for key, count in fold.rules)
        lines.append(f"- {'❌' if fold.level is Level.ERROR else '⚠️'} {names}")
        for matter in fold.told:
            places = [str(where) for where in dict.fromkeys(f.location for f in matter.findings) if where is not None]
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            lines.append(f"  - {told(matter.message)}" + (f" {span(places[0])}{more}" if places else ""))
        lines += [f"  - … and {fold.more} more (the JSON report has all)."] if fold.more else []
        lines.append(f"  - **Fix:** {told(fold.fix)}")
    return [*lines, ""] if lines else []


def _waived(report: Report, options: Options) -> list[str]:
    """What fails and decides nothing while its waiver lasts; never left out, however many there are."""
    results = waived(report)
    lines = [f"### Waived: {say.number(len(results), 'failure')}", ""] if results else []
    for result in results:
        lines.append(f"- ⚠️ {span(report.rule(result).key)} on {prose(result.gate)}")
        lines += _matter(
            Matter(message=result.message, expected=result.expected, findings=(result,)), whole=options.verbose
        )
        if result.suppression is not None:
            lines.append(f"  - {prose(because(result.suppression))}")
    return [*lines, ""] if lines else []


def _blocking(report: Report, options: Options) -> list[str]:
    groups = block_groups(report)
    lines = ["### What later gates wait for", ""] if groups else []
    for group in groups:
        rule = group.rules[0]
        lines.append(f"- ⛔ {span(rule.key)} {told(rule.title)}: blocks {prose(stopped(group.findings))}")
        lines += [line for matter in matters(group) for line in _matter(matter, whole=options.verbose)]
        lines.append(f"  - **Fix:** {told(rule.fix)}")
    return [*lines, ""] if lines else []


def _section(name: str, groups: Sequence[Group], *, brief: bool = False, whole: bool = False) -> list[str]:
    if not groups:
        return []
    lines = [f"### {name}", ""]
    for group in groups:
        rule = group.rules[0]
        said = "" if rule.trust else f" {told(group.findings[0].message)}"
        lines.append(f"- ❔ {span(rule.key)} {told(rule.title)}: open on {', '.join(group.gates)}.{said}")
        if whole and rule.trust:
            lines += [line for matter in matters(group) for line in _matter(matter, whole=True)]
        lines += [] if brief else [f"  - **Fix:** {told(rule.fix)}"]
    return [*lines, ""]


def _matter(matter: Matter, *, whole: bool) -> list[str]:
    expected, same, places = matter.tail
    said = [] if expected is None else [f"Expected {span(cut(expected, whole=whole))}."]
    said += [] if same is None else [f"Actual {span(cut(same, whole=whole))}."]
    lines = [" ".join([f"  - {told(matter.message)}", *said])]
    for location, found in places[:PLACES]:
        where = "" if location is None else span(str(location))
        actual = "" if found is None else f" actual {span(cut(found, whole=whole))}"
        if where or actual:
            lines.append(f"    - {where}{actual}")
    if len(places) > PLACES:
        lines.append(f"    - … and {say.number(len(places) - PLACES, 'more place')} (the JSON report has all).")
    return lines
