"""What a report means, in plain sentences; every format for people uses the same ones."""

from collections.abc import Iterable, Sequence

from calaudit.model import EVERY_GATE, PORT, GateReport, Kind, Level, Report, Result, Verdict
from calaudit.report._follows import mend
from calaudit.report._groups import Group, block_groups, follow_groups, gate_groups, is_unsigned, trust_groups
from calaudit.report._trust import waived
from calaudit.report._weights import decides, follows, is_about_files, needs_run, stopped, urgency

__all__ = ["EXITS", "blocked", "goes_back", "left", "meaning", "next_step", "number", "title", "unsigned"]

EXITS = {
    0: "passed",
    1: "something is wrong",
    3: "not everything could be verified",
    4: "calaudit itself failed",
}
"""What the exit codes of an audit say; 2 (usage or contract) gives no report."""


def number(count: int, noun: str) -> str:
    """``1 rule``, ``2 rules``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def title(report: Report) -> str:
    """Which port was judged, and how far."""
    return f"port {report.port.id}, judged through {report.through}"


def meaning(report: Report) -> str:
    """Why the port has its verdict and the run its exit code."""
    if report.exit_code == 4:
        return "A rule crashed, so this audit says nothing reliable; see the notes, and please report it."
    count = len(waived(report))
    return _why(report) + (f" {number(count, 'failure')} {'is' if count == 1 else 'are'} waived." if count else "")


def _why(report: Report) -> str:
    failed = _rules(report, [r for r in _decisive(report) if r.kind is Kind.FAIL and not follows(report, r)])
    stale = _rules(report, [r for r in _decisive(report) if follows(report, r)])
    opened = _rules(report, [r for r in _decisive(report) if r.kind is Kind.OPEN])
    parts = [f"{number(failed[0], 'rule')} {_s(failed[0], 'fail')}: {failed[1]}."] if failed[0] else []
    if stale[0]:
        more = f"{stale[0]} more" if failed[0] else number(stale[0], "rule")
        parts.append(f"{more} {_s(stale[0], 'fail')} since something changed after it was run or signed: {stale[1]}.")
    wrong = " ".join(parts)
    unsure = f"{number(opened[0], 'rule')} could not be verified: {opened[1]}."
    match report.verdict:
        case Verdict.PASSED:
            nothing = "Nothing else" if waived(report) else "Nothing"
            done = f"{nothing} is wrong through {report.through}, and nothing is left to verify."
            return done + _warnings(report) + _stopping(report)
        case Verdict.BLOCKED_COMPILER | Verdict.BLOCKED_REPRODUCIBILITY:
            gates = [g.gate for g in report.gates if g.verdict is report.verdict]
            waits = blocked(", ".join(gates), report.verdict)
            return " ".join([waits, *([wrong] if wrong else []), *([f"Besides, {unsure}"] if opened[0] else [])])
        case Verdict.FAILED:
            return f"{wrong} Besides, {unsure}" if opened[0] else wrong
        case _ if not opened[0]:
            return (wrong or "Nothing is wrong, but nothing was verified either.") + _stopping(report)
        case _:
            return (f"{wrong} {unsure}" if wrong else f"Nothing is wrong, but {unsure}") + _stopping(report)


def unsigned(report: Report) -> str | None:
    """What to know of signatures; None where every trust rule could be judged, or where nothing can be said."""
    if report.exit_code == 4:
        return None
    count, gates = _rules(report, [r for r in report.findings if is_unsigned(report, r)])
    if not count:
        return None
    every = len({(r.gate, r.rule) for r in _decisive(report) if r.kind is Kind.OPEN}) == count
    who = "What could not be verified waits" if every else f"{count} of them {_s(count, 'wait')}"
    where = "" if every else f" ({gates})"
    unknown = ", and no trust root is pinned" if report.trust is None else ""
    waits = f"{left(report.findings, report)}{where}{unknown}"
    return f"{who} for {waits}. The technical verdicts do not depend on them."


def left(findings: Iterable[Result], report: Report) -> str:
    """What the open trust rules among these wait for."""
    waits = {needs_run(r.rule) for r in findings if is_unsigned(report, r)}
    return {frozenset({True}): "attested runs", frozenset({True, False}): "attested runs and signatures"}.get(
        frozenset(waits), "signatures"
    )


def next_step(report: Report) -> str:
    """What to do now."""
    if report.exit_code == 4:
        return "Run again with the newest calaudit; if it crashes again, report the note above with the port's version."
    found = [(gate, group) for gate in report.gates for group in gate_groups(report, gate) if _is_deciding(group)]
    gates = {gate.gate: gate for gate in report.gates}
    found += [(gates[group.gates[0]], group) for group in follow_groups(report) if _is_deciding(group)]
    if found:
        return _begin(report, *min(found, key=lambda item: _urgency(report, *item)))
    later = "".join(f" For {stopped(group.findings)}: {group.rules[0].fix}" for group in block_groups(report))
    waiting = trust_groups(report)
    if unsigned(report) is not None:
        what = left(report.findings, report)
        done = f"Through {report.through} every technical rule that has a matter passes; what is left are {what}."
        rule = waiting[0].rules[0]
        return f"{done} Begin with {rule.key}:{_said(waiting[0].findings[0])} {rule.fix}{later}"
    if report.through == "G10":
        return later.lstrip() or "Nothing is left to do."
    return (
        f"Go on with the gate after {report.through}: raise `claim` in port.yaml. That changes port.yaml, so a step "
        f"that has it among its materials is run again, and its gate signed again.{later}"
    )


def goes_back(report: Report, gate: GateReport, results: Iterable[Result]) -> str | None:
    """Where the gate goes back to for these findings; None where none of them judges what the gate made.

    A file that is missing, malformed or another one is put right where it is; a signature, by whoever owes it.
    """
    rules = [report.rule(r) for r in results if decides(r) and r.kind is Kind.FAIL and not is_about_files(r.rule)]
    return "; ".join(dict.fromkeys(rule.back_to or gate.back_to for rule in rules if not rule.trust)) or None


def _is_deciding(group: Group) -> bool:
    return any(map(decides, group.findings))


def _urgency(report: Report, gate: GateReport, group: Group) -> tuple[int, bool, int, int]:
    return min(urgency(report, gate, rule.id, group.kind) for rule in group.rules)


def _begin(report: Report, gate: GateReport, group: Group) -> str:
    rule, first = group.rules[0], next(f for f in group.findings if decides(f))
    where = f" on {'the port' if gate.gate == PORT else gate.gate}" if rule.gate == EVERY_GATE else ""
    if follows(report, first):
        stale = [r for r in report.findings if follows(report, r) and decides(r)]
        return f"Begin with {rule.key}{where}:{_said(first)} {mend(report, stale)}"
    back = goes_back(report, gate, group.findings)
    goes = "" if back is None else f" If that is not enough, {gate.gate} goes back to: {back}."
    return f"Begin with {rule.key}{where}:{_said(first)} {group.fix or 'Supply what is missing.'}{goes}"


def _said(finding: Result) -> str:
    """What a finding says and where, as a sentence that begins with a space; empty where it says nothing."""
    if not finding.message:
        return "" if finding.location is None else f" See {finding.location}."
    named = finding.location is None or str(finding.location) in finding.message
    if named:
        return f" {finding.message if finding.message.endswith(('.', ')', '?')) else f'{finding.message}.'}"
    return f" {finding.message} ({finding.location})"


def _s(count: int, verb: str) -> str:
    return f"{verb}s" if count == 1 else verb


def blocked(where: str, verdict: Verdict) -> str:
    """Why something has a BLOCKED verdict; ``where`` may be empty."""
    why = "the compiler vendor has to deliver what the kick-off asks for"
    if verdict is Verdict.BLOCKED_REPRODUCIBILITY:
        why = "the result could not be reproduced"
    return f"{where}: blocked, since {why}." if where else f"Blocked, since {why}."


def _decisive(report: Report) -> list[Result]:
    return [r for r in report.findings if decides(r)]


def _rules(report: Report, results: Iterable[Result]) -> tuple[int, str]:
    """How many rules gave these results, and where: ``(3, "G0 1, G2 2")``, with spaces that do not break."""
    seen: dict[str, set[str]] = {}
    for result in results:
        seen.setdefault(result.gate, set()).add(result.rule)
    order: Sequence[str] = [g.gate for g in report.gates if g.gate in seen]
    return sum(map(len, seen.values())), ", ".join(f"{gate}\u00a0{len(seen[gate])}" for gate in order)


def _warnings(report: Report) -> str:
    count, gates = _rules(report, [r for r in report.findings if r.level is not Level.ERROR and r.suppression is None])
    return f" {number(count, 'rule')} warned, which does not decide: {gates}." if count else ""


def _stopping(report: Report) -> str:
    """What stops later gates, as a sentence that begins with a space; empty where nothing does."""
    groups = block_groups(report)
    if not groups:
        return ""
    names = ", ".join(group.rules[0].key for group in groups)
    gates = stopped([r for group in groups for r in group.findings])
    return f" {names} {'blocks' if len(groups) == 1 else 'block'} {gates}, which decides nothing here."
