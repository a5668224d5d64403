"""The report for people at a terminal: as wide as it is, by gate, every matter once."""

from collections.abc import Sequence

from calaudit.model import PORT, GateReport, Kind, Level, Report, Result, Verdict
from calaudit.report import PLAIN, Options
from calaudit.report import _sentences as say
from calaudit.report._alike import Matter, matters
from calaudit.report._follows import HEADING, folds, stale_here
from calaudit.report._groups import (
    Group,
    block_groups,
    by_rule,
    follow_groups,
    gate_groups,
    repeated_groups,
    tally,
    worst,
)
from calaudit.report._matters import write_fold, write_group, write_matter
from calaudit.report._page import Page, kind_style, symbol, verdict_style
from calaudit.report._trust import because, headline, signatures, trusted, waived
from calaudit.report._waits import write_waits
from calaudit.report._weights import stopped

__all__ = ["render"]


def render(report: Report, options: Options = PLAIN) -> str:
    """The report as text."""
    page = Page(colour=options.colour, width=options.width, ascii_only=options.ascii_only)
    _head(page, report)
    repeated = repeated_groups(report)
    for gate in report.gates:
        if gate.planned:
            page.blank()
            _gate(page, report, gate, repeated, options)
            if options.verbose:
                _quiet_rules(page, report, gate)
    _follows(page, report, options)
    _waived(page, report, options)
    _blocking(page, report, options)
    _waiting(page, report)
    write_waits(page, report, repeated, whole=options.verbose)
    _foot(page, report)
    return page.text()


def _head(page: Page, report: Report) -> None:
    port = report.port
    page.spread(f"calaudit {report.contract_version}", f"contract {report.contract_digest[:16]}…", right_style="dim")
    page.para(f"port {port.id} · profile {port.profile} · {port.stage} · claims {port.claim}", style="dim")
    page.para(trusted(report), style="dim")


def _gate(page: Page, report: Report, gate: GateReport, repeated: Sequence[Group], options: Options) -> None:
    name = gate.title if gate.gate == PORT else f"{gate.gate}  {gate.title} · {gate.owners}"
    files = say.number(gate.files, "file")
    page.spread(f"{name} · {files}", str(gate.verdict), right_style=verdict_style(gate.verdict))
    page.para(_counts(report, gate), indent=4, style="dim")
    signed = signatures(report).get(gate.gate)
    if signed:
        page.para(f"signed by {', '.join(signed)}", indent=4, style="dim")
    if gate.verdict in (Verdict.BLOCKED_COMPILER, Verdict.BLOCKED_REPRODUCIBILITY):
        page.para(say.blocked(gate.gate, gate.verdict), indent=4, style="magenta")
    stale = stale_here(report, gate)
    if stale:
        page.para(f"signed before it changed (see below): {', '.join(stale)}", indent=4, style="dim")
    for group in gate_groups(report, gate, but=repeated):
        write_group(page, group, whole=options.verbose)


def _counts(report: Report, gate: GateReport) -> str:
    counts = tally(report, gate)
    parts = [
        f"{counts.passed} of {say.number(gate.planned, 'rule')} passed",
        *([f"{counts.failed} failed"] if counts.failed else []),
        *([f"{counts.open} open"] if counts.open else []),
        *([f"{counts.blocking} blocks {stopped(gate.results)}"] if counts.blocking else []),
        *([f"{counts.warned} warned"] if counts.warned else []),
        *([f"{counts.unjudged} not judged"] if counts.unjudged else []),
        *([f"{counts.waived} waived"] if counts.waived else []),
        *([f"{counts.unsigned} unsigned"] if counts.unsigned else []),
        *([f"{counts.not_applicable} n/a"] if counts.not_applicable else []),
    ]
    return f"technically {gate.technical}: {', '.join(parts)}"


def _quiet_rules(page: Page, report: Report, gate: GateReport) -> None:
    page.blank()
    for results in by_rule(gate.results).values():
        kind = worst(results)
        if kind not in (Kind.PASS, Kind.NOT_APPLICABLE):
            continue
        first: Result = results[0]
        rule = report.rule(first)
        said = first.message if kind is Kind.NOT_APPLICABLE else f"{rule.title} ({first.examined} examined)"
        lead = f"{symbol(kind, first.level)} "
        page.para(f"{rule.key}: {said}", indent=2, lead=lead, lead_style=kind_style(kind, first.level), style="dim")


def _follows(page: Page, report: Report, options: Options) -> None:
    """What is wrong only since something changed, after what is wrong with the port itself."""
    groups = follow_groups(report)
    if not groups:
        return
    failing = any(group.level is Level.ERROR for group in groups)
    page.blank()
    page.spread(HEADING, "to be made again" if failing else "warned", right_style="bold red" if failing else "cyan")
    if options.verbose:
        for group in groups:
            write_group(page, group, whole=True)
    else:
        for fold in folds(report):
            write_fold(page, fold)


def _waived(page: Page, report: Report, options: Options) -> None:
    """What fails and decides nothing while its waiver lasts; never left out, however many there are."""
    results = waived(report)
    if not results:
        return
    page.blank()
    page.spread("Waived", say.number(len(results), "failure"), right_style="bold yellow")
    for result in results:
        page.blank()
        page.para(f"{report.rule(result).key} on {result.gate}", indent=2, lead="! ", style="bold", lead_style="yellow")
        matter = Matter(message=result.message, expected=result.expected, findings=(result,))
        write_matter(page, matter, whole=options.verbose)
        if result.suppression is not None:
            page.para(because(result.suppression), indent=4)


def _blocking(page: Page, report: Report, options: Options) -> None:
    """What stops later gates and decides nothing on its own."""
    groups = block_groups(report)
    if not groups:
        return
    page.blank()
    page.spread("What later gates wait for", "blocks later gates", right_style="bold magenta")
    for group in groups:
        page.blank()
        page.para(group.rules[0].key, indent=2, lead="⊘ ", style="bold", lead_style="magenta")
        page.para(group.rules[0].title, indent=4, lead="rule: ", style="dim")
        found = list(matters(group))
        # Where the port fails, something else comes first.
        shown = found[:1] if report.verdict is Verdict.FAILED and not options.verbose else found
        for matter in shown:
            write_matter(page, matter, whole=options.verbose)
        if len(found) > len(shown):
            page.para(f"… and {len(found) - len(shown)} more (see --verbose).", indent=4)
        page.para(f"Blocks {stopped(group.findings)}; decides no other verdict.", indent=4)
        page.para(group.rules[0].fix, indent=4, lead="fix: ", lead_style="green")


def _waiting(page: Page, report: Report) -> None:
    """The gates that were not judged, a line for each run of gates that wait for the same."""
    runs: list[list[GateReport]] = []
    for gate in report.gates:
        if gate.planned:
            continue
        if runs and runs[-1][0].verdict is gate.verdict:
            runs[-1].append(gate)
        else:
            runs.append([gate])
    for run in runs:
        page.blank()
        names = f"{run[0].gate}  {run[0].title}" if len(run) == 1 else f"{run[0].gate} to {run[-1].gate}"
        verdict = run[0].verdict
        page.spread(names, str(verdict), right_style=verdict_style(verdict))
        what = "not claimed, and no file is there." if verdict is Verdict.NOT_STARTED else say.blocked("", verdict)
        page.para(what, indent=4, style="dim" if verdict is Verdict.NOT_STARTED else "magenta")


def _foot(page: Page, report: Report) -> None:
    page.blank()
    for note in report.notes:
        first, *more = note.splitlines() or [""]
        page.para(first, lead="note: ", lead_style="cyan")
        for line in more:
            page.para(line.lstrip(" "), indent=2 + len(line) - len(line.lstrip(" ")))
    if report.unsafe:
        page.para(f"UNSAFE: this audit was weakened by {', '.join(report.unsafe)}.", style="bold red")
    page.rule()
    exits = f"exit {report.exit_code}: {say.EXITS.get(report.exit_code, 'unknown')}"
    page.spread(headline(report), exits, left_style=verdict_style(report.verdict), right_style="dim")
    page.para(f"{say.title(report)[0].upper()}{say.title(report)[1:]}.")
    page.para(say.meaning(report))
    unsigned = say.unsigned(report)
    if unsigned is not None:
        page.para(unsigned)
    page.para(say.next_step(report), lead="Next: ", lead_style="bold")
