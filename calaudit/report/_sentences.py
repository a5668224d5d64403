"""What a report means, in plain sentences; every format for people uses the same ones."""

from collections.abc import Iterable, Sequence

from calaudit.model import EVERY_GATE, Kind, Level, Report, Result, Verdict
from calaudit.report._groups import gate_groups, is_unsigned

__all__ = ["EXITS", "blocked", "meaning", "next_step", "number", "title", "unsigned"]

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
    failed = _rules(report, [r for r in _decisive(report) if r.kind is Kind.FAIL])
    opened = _rules(report, [r for r in _decisive(report) if r.kind is Kind.OPEN])
    wrong = f"{number(failed[0], 'rule')} {'fails' if failed[0] == 1 else 'fail'}: {failed[1]}."
    unsure = f"{number(opened[0], 'rule')} could not be verified: {opened[1]}."
    match report.verdict:
        case Verdict.PASSED:
            return f"Nothing is wrong through {report.through}, and nothing is left to verify." + _warnings(report)
        case Verdict.BLOCKED_COMPILER | Verdict.BLOCKED_REPRODUCIBILITY:
            gates = [g.gate for g in report.gates if g.verdict is report.verdict]
            waits = blocked(", ".join(gates), report.verdict)
            return " ".join([waits, *([wrong] if failed[0] else []), *([f"Besides, {unsure}"] if opened[0] else [])])
        case Verdict.FAILED:
            return f"{wrong} Besides, {unsure}" if opened[0] else wrong
        case _:
            return f"Nothing is wrong, but {unsure}" if not failed[0] else f"{wrong} {unsure}"


def unsigned(report: Report) -> str | None:
    """What to know of signatures; None where every trust rule could be judged, or where nothing can be said."""
    if report.exit_code == 4:
        return None
    count, gates = _rules(report, [r for r in report.findings if is_unsigned(report, r)])
    if not count:
        return None
    every = len({(r.gate, r.rule) for r in _decisive(report) if r.kind is Kind.OPEN}) == count
    who = "All of them wait" if every else f"{count} of them {'waits' if count == 1 else 'wait'}"
    where = "" if every else f" ({gates})"
    return (
        f"{who} for signatures, which cannot be verified yet, whatever the files say{where}. "
        "The technical verdicts do not depend on them."
    )


def next_step(report: Report) -> str:
    """What to do now."""
    if report.exit_code == 4:
        return "Run again with the newest calaudit; if it crashes again, report the note above with the port's version."
    for kind in (Kind.FAIL, Kind.OPEN):
        for gate in report.gates:
            groups = [g for g in gate_groups(report, gate) if g.level is Level.ERROR and g.kind is kind]
            if groups:
                rule = groups[0].rules[0]
                fix = groups[0].fix or "Supply what is missing."
                back = "" if kind is Kind.OPEN else f" {gate.gate} goes back to {rule.back_to or gate.back_to}."
                where = f" on {gate.gate}" if rule.gate == EVERY_GATE else ""
                return f"Begin with {rule.key}{where}: {fix}{back}"
    if unsigned(report) is not None:
        done = f"Through {report.through} every technical rule that has a matter passes"
        return f"{done}; what is left are signatures, which this version of calaudit cannot verify."
    if report.through == "G10":
        return "Nothing is left to do."
    return f"Go on with the gate after {report.through}: raise `claim` in port.yaml."


def blocked(where: str, verdict: Verdict) -> str:
    """Why something has a BLOCKED verdict; ``where`` may be empty."""
    why = "the compiler vendor has to deliver what the kick-off asks for"
    if verdict is Verdict.BLOCKED_REPRODUCIBILITY:
        why = "the result could not be reproduced"
    return f"{where}: blocked, since {why}." if where else f"Blocked, since {why}."


def _decisive(report: Report) -> list[Result]:
    return [r for r in report.findings if r.level is Level.ERROR]


def _rules(report: Report, results: Iterable[Result]) -> tuple[int, str]:
    """How many rules gave these results, and where: ``(3, "G0 1, G2 2")``, with spaces that do not break."""
    seen: dict[str, set[str]] = {}
    for result in results:
        seen.setdefault(result.gate, set()).add(result.rule)
    order: Sequence[str] = [g.gate for g in report.gates if g.gate in seen]
    return sum(map(len, seen.values())), ", ".join(f"{gate}\u00a0{len(seen[gate])}" for gate in order)


def _warnings(report: Report) -> str:
    count, gates = _rules(report, [r for r in report.findings if r.level is not Level.ERROR])
    return f" {number(count, 'rule')} warned, which does not decide: {gates}." if count else ""
