"""What follows from a change: runs and signatures that are of other bytes, told once and after their causes."""

from collections.abc import Iterable
from dataclasses import dataclass

from calaudit.model import PORT, GateReport, Kind, Level, Report, Result
from calaudit.report._alike import FEW, Matter, matters
from calaudit.report._groups import Group, follow_groups
from calaudit.report._weights import decides, follows, has_cause

__all__ = ["HEADING", "Fold", "folds", "mend", "stale_here"]

HEADING = "Signed before this changed"

_LAYOUT = "attestations/root.layout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Findings of several rules as one matter; ``more`` is how many of their messages ``told`` leaves out."""

    level: Level
    rules: tuple[tuple[str, int], ...]
    told: tuple[Matter, ...]
    more: int
    fix: str

    @property
    def names(self) -> str:
        """The rules and how many findings each has: ``port.link-stale (4), common.signoff-chain (2)``."""
        return ", ".join(f"{key} ({count})" for key, count in self.rules)


def folds(report: Report) -> tuple[Fold, ...]:
    """One matter for what fails, and one for what warns."""
    groups = follow_groups(report)
    made = []
    for level in (Level.ERROR, Level.WARNING, Level.NOTE):
        found = [group for group in groups if group.level is level]
        if found:
            made.append(_fold(report, level, found))
    return tuple(made)


def stale_here(report: Report, gate: GateReport) -> tuple[str, ...]:
    """The rules that fail on a gate for what changed."""
    return tuple(dict.fromkeys(r.rule for r in gate.findings if follows(report, r) and decides(r)))


def mend(report: Report, results: Iterable[Result]) -> str:
    """What to do about findings that follow: put right what changed by mistake; for the rest, whom it concerns."""
    steps: list[str] = []
    gates: list[str] = []
    others: list[str] = []
    order = [gate.gate for gate in report.gates]
    for result in sorted(results, key=lambda r: order.index(r.gate)):
        path = "" if result.location is None else result.location.path
        folder, _, name = path.partition("/")
        if path == _LAYOUT:
            others.append("compile and sign the layout again (`calaudit layout`)")
        elif folder == "attestations":
            steps.append(name.partition(".")[0])
        elif folder == "waivers":
            others.append("have waived again what still fails (`calaudit waive`)")
        elif folder == "signoffs":
            gates.append("what the vendor said" if result.gate == PORT else result.gate)
    # A build that is missing as well has to be there before somebody signs.
    open_builds = [r.location for r in report.findings if r.rule == "rebuilds-incomplete" and r.kind is Kind.OPEN]
    builds = [at.pointer.split("/")[2] for at in open_builds if at and at.pointer and at.pointer.startswith("/steps/")]
    todo = [
        *dict.fromkeys(others),
        *([f"run {_some(steps)} again (`calaudit run`)"] if steps else []),
        *([f"build {_some(builds)} again (`calaudit rebuild`)"] if builds else []),
        # Whatever is made again changes what was signed with it.
        f"have {_some(gates) if gates else 'the gates that rest on it'} signed again (`calaudit signoff`)",
    ]
    done = ", ".join(todo[:-1]) + (" and " if todo[:-1] else "") + todo[-1]
    if has_cause(report):
        return f"Mend what is told above first. If it still differs then, {done}."
    return f"Restore what changed by mistake (`git diff`). If the change was meant, {done}."


def _fold(report: Report, level: Level, groups: list[Group]) -> Fold:
    findings = tuple(f for group in groups for f in group.findings)
    together = Group(
        rules=tuple(rule for group in groups for rule in group.rules),
        gates=tuple(dict.fromkeys(f.gate for f in findings)),
        kind=groups[0].kind,
        level=level,
        findings=findings,
    )
    told = tuple(matters(together))
    own = together.fix if len(groups) == 1 and level is not Level.ERROR else None
    return Fold(
        level=level,
        rules=tuple((group.rules[0].key, len(group.findings)) for group in groups),
        told=told[:FEW],
        more=len(told) - FEW if len(told) > FEW else 0,
        fix=own or mend(report, findings),
    )


def _some(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - FEW} more" if len(found) > FEW + 1 else ""
    return f"{', '.join(found[:FEW] if more else found)}{more}"
