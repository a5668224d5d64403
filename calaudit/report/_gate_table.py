"""The table of the gates (runbook §15) for ``calaudit status``: who answers, what stands in the way, where to go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calaudit.model import PORT, GateReport, Kind, Report, Result, Verdict
from calaudit.report import PLAIN, Options
from calaudit.report import _sentences as say
from calaudit.report._groups import by_rule, is_unsigned, tally
from calaudit.report._layout import cells
from calaudit.report._page import Page, verdict_style
from calaudit.report._trust import headline, missing_signers, trusted
from calaudit.report._weights import blocks_later, decides, rank, stopped

__all__ = ["Row", "render", "rows"]

BLOCKED = (Verdict.BLOCKED_COMPILER, Verdict.BLOCKED_REPRODUCIBILITY)
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Where one gate stands. ``missing`` is short; ``stale`` says that it was made from files that have changed since.

    ``owned_by`` and ``signed_by`` are names of the registry; ``unsigned`` says whose signature is missing or broken.
    ``blocked_by`` are the messages of what blocks it, ``waits_for`` the gates it builds on that have not passed
    technically.
    """

    gate: str
    title: str
    owners: tuple[str, ...]
    verdict: Verdict
    technical: Verdict
    missing: str
    owned_by: tuple[str, ...]
    signed_by: tuple[str, ...]
    unsigned: str
    back_to: str | None
    stale: bool
    blocked_by: tuple[str, ...]
    waits_for: tuple[str, ...]


def rows(
    report: Report,
    *,
    owners: Mapping[str, Sequence[str]],
    depends: Mapping[str, Sequence[str]],
    duties: Sequence[str] = (),
) -> list[Row]:
    """A row for the port as a whole and for each gate; ``owners`` and ``depends`` are those of ``gates.yaml``.

    ``duties`` are the roles that sign files of the port as a whole.
    """
    technical = {gate.gate: gate.technical for gate in report.gates}
    return [
        Row(
            gate=gate.gate,
            title=gate.title,
            owners=tuple(owners.get(gate.gate, (gate.owner,))),
            verdict=gate.verdict,
            technical=gate.technical,
            missing=_missing(report, gate),
            owned_by=gate.owned_by,
            signed_by=tuple(dict.fromkeys(gate.signed_by)),
            unsigned=_unsigned(report, gate, duties if gate.gate == PORT else owners.get(gate.gate, (gate.owner,))),
            back_to=_back_to(report, gate),
            stale=any(r.rule == "chain-broken" and r.kind is Kind.FAIL for r in gate.results),
            blocked_by=_blocked_by(report, gate),
            waits_for=tuple(g for g in depends.get(gate.gate, ()) if technical.get(g) is not Verdict.PASSED),
        )
        for gate in report.gates
    ]


def render(report: Report, table: Sequence[Row], options: Options = PLAIN) -> str:
    """The table as text."""
    page = Page(colour=options.colour, width=options.width, ascii_only=options.ascii_only)
    port = report.port
    page.para(f"port {port.id} · profile {port.profile} · {port.stage} · claims {port.claim}", style="bold")
    page.blank()
    widths = _widths(table, options.width)
    page.columns(widths, ("Gate", "Title", "Owner", "Verdict", "What is missing"), ("dim",) * 5)
    page.rule()
    for row in table:
        name = "" if row.gate == PORT else row.gate
        words = (name, row.title, ", ".join(row.owners), str(row.verdict), _told(row))
        page.columns(widths, words, ("bold", "", "", verdict_style(row.verdict), ""))
    page.rule()
    _signatures(page, report, table)
    for verdict in BLOCKED:
        _explain(page, verdict, [row for row in table if row.verdict is verdict])
    for note in report.notes:
        page.para(note, lead="note: ", lead_style="cyan")
    page.para(say.meaning(report), lead=f"{headline(report)}  ", lead_style=verdict_style(report.verdict))
    unsigned = say.unsigned(report)
    if unsigned is not None:
        page.para(unsigned)
    page.para(say.next_step(report), lead="Next: ", lead_style="bold")
    return page.text()


def _signatures(page: Page, report: Report, table: Sequence[Row]) -> None:
    """Who signed which gate, and whose signature is missing or does not hold any more."""
    page.para(trusted(report), style="dim")
    for row in table:
        parts = [*([f"signed by {', '.join(row.signed_by)}"] if row.signed_by else []), row.unsigned]
        told = "; ".join(part for part in parts if part)
        if told:
            lead = f"{'port' if row.gate == PORT else row.gate:6}"
            page.para(told, lead=lead, lead_style="bold" if row.unsigned else "green")
    for result in report.results:
        if result.rule == "expires-soon" and result.kind is Kind.FAIL:
            page.para(result.message, lead="expires-soon  ", lead_style="yellow")
    page.rule()


def _unsigned(report: Report, gate: GateReport, roles: Sequence[str]) -> str:
    return missing_signers(report, gate, roles) if gate.planned else ""


def _widths(table: Sequence[Row], width: int) -> tuple[int, int, int, int, int]:
    gate, title, owner = 4, 13, 8
    verdict = max(10, *(cells(str(row.verdict)) for row in table))
    return gate, title, owner, verdict, width - gate - title - owner - verdict - 4 * 2


def _told(row: Row) -> str:
    parts = [row.missing]
    if row.stale:
        parts.append("Stale: made from files that changed since.")
    if row.waits_for and row.verdict is not Verdict.NOT_STARTED:
        parts.append(f"Builds on {', '.join(row.waits_for)}, not passed.")
    if row.back_to is not None:
        parts.append(f"Back to: {row.back_to}.")
    return " ".join(part for part in parts if part)


def _missing(report: Report, gate: GateReport) -> str:
    if gate.verdict is Verdict.NOT_STARTED:
        return "Not claimed."
    decisive = sorted(
        (r for r in gate.findings if decides(r) and not is_unsigned(report, r)), key=lambda r: rank(r.rule, r.kind)
    )
    parts = [_named(kind, by_rule(r for r in decisive if r.kind is kind)) for kind in (Kind.FAIL, Kind.OPEN)]
    counts = tally(report, gate)
    if counts.unsigned:
        what = say.left(gate.findings, report)
        whole = f"{what[0].upper()}{what[1:]}." if any(parts) else f"Technically {gate.technical}; {what}."
        parts.append(whole)
    if gate.verdict in BLOCKED and not any(parts):
        parts.append("See below.")
    if counts.blocking:
        names = ", ".join(by_rule(r for r in gate.findings if blocks_later(r)))
        parts.append(f"Blocks {stopped(gate.findings)}: {names}.")
    if counts.warned:
        parts.append(f"{say.number(counts.warned, 'warning')}.")
    if counts.unjudged:
        parts.append(f"{say.number(counts.unjudged, 'warning')} not judged.")
    if counts.waived:
        parts.append(f"{counts.waived} waived.")
    return " ".join(part for part in parts if part)


def _named(kind: Kind, found: Mapping[str, Sequence[Result]]) -> str:
    if not found:
        return ""
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{'Fails' if kind is Kind.FAIL else 'Open'}: {', '.join(list(found)[:_NAMED])}{more}."


def _back_to(report: Report, gate: GateReport) -> str | None:
    if gate.verdict is Verdict.BLOCKED_REPRODUCIBILITY and not any(decides(r) for r in gate.findings):
        return gate.back_to
    return say.goes_back(report, gate, gate.findings)


def _blocked_by(report: Report, gate: GateReport) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            f"{r.message} ({r.location})" if r.location else r.message
            for r in report.findings
            if r.blocks is gate.verdict
            and (gate.gate in r.blocked_gates or (r.gate == gate.gate and not r.blocked_gates))
        )
    )


def _explain(page: Page, verdict: Verdict, blocked: Sequence[Row]) -> None:
    if not blocked:
        return
    gates = ", ".join(row.gate for row in blocked)
    page.para(say.blocked(gates, verdict), lead=f"{verdict}  ", lead_style=verdict_style(verdict))
    for message in dict.fromkeys(m for row in blocked for m in row.blocked_by):
        page.para(message, indent=2, lead="- ")
    page.blank()
