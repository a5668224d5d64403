"""Sorting the findings of a report so that a reader meets each matter once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from calaudit.model import GateReport, Kind, Level, Report, Result, Rule
from calaudit.report._weights import blocks_later, decides, follow_rank, follows, is_unsigned, rank, wait_rank

__all__ = [
    "Group",
    "Tally",
    "block_groups",
    "by_rule",
    "follow_groups",
    "gate_groups",
    "is_unsigned",
    "repeated_groups",
    "tally",
    "trust_groups",
    "worst",
]

_WEIGHT = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}
_WORST_FIRST = (Kind.FAIL, Kind.OPEN, Kind.PASS, Kind.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Findings that belong together: those of one rule, or one cause that leaves several rules open alike.

    ``gates`` are where they were found; ``findings`` those of the first rule (the others' say the same).
    """

    rules: tuple[Rule, ...]
    gates: tuple[str, ...]
    kind: Kind
    level: Level
    findings: tuple[Result, ...]

    @property
    def fix(self) -> str | None:
        """What to do; None where the rules' fixes differ (the findings' messages then say what is missing)."""
        fixes = {rule.fix for rule in self.rules}
        return fixes.pop() if len(fixes) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many rules of a gate ended how.

    ``warned`` fail and ``unjudged`` are open without deciding the verdict; ``blocking`` stop other gates than theirs;
    ``waived`` fail and a waiver covers it; ``unsigned`` are open because nothing is signed.
    """

    passed: int
    failed: int
    open: int
    warned: int
    unjudged: int
    blocking: int
    waived: int
    unsigned: int
    not_applicable: int


def worst(results: Iterable[Result]) -> Kind:
    """The kind that stands for all results of one rule."""
    kinds = {result.kind for result in results}
    return next(kind for kind in _WORST_FIRST if kind in kinds)


def by_rule(results: Iterable[Result]) -> dict[str, list[Result]]:
    """The results of one gate by the id of their rule."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.rule, []).append(result)
    return found


def tally(report: Report, gate: GateReport) -> Tally:
    """Count the rules of a gate by how they ended."""
    counts = Counter(_ending(report, results) for results in by_rule(gate.results).values())
    return Tally(**{item.name: counts[item.name] for item in fields(Tally)})


def _ending(report: Report, results: Sequence[Result]) -> str:
    """Which number of a :class:`Tally` a rule counts for."""
    findings = [r for r in results if r.is_finding]
    if not findings:
        return "passed" if worst(results) is Kind.PASS else "not_applicable"
    if all(is_unsigned(report, r) for r in findings):
        return "unsigned"
    deciding = [r for r in findings if decides(r)]
    if deciding:
        return "failed" if worst(deciding) is Kind.FAIL else "open"
    if any(blocks_later(r) for r in findings):
        return "blocking"
    if any(r.suppression is not None for r in findings):
        return "waived"
    return "warned" if worst(findings) is Kind.FAIL else "unjudged"


def gate_groups(report: Report, gate: GateReport, *, but: Sequence[Group] = ()) -> tuple[Group, ...]:
    """The findings of one gate, causes first.

    Without what is unsigned, waived, follows from a change, blocks others, or is told by ``but``.
    """
    groups: dict[object, Group] = {}
    told = {rule.id for group in but if gate.gate in group.gates for rule in group.rules}
    wanted = [
        r
        for r in gate.findings
        if r.rule not in told
        and not (is_unsigned(report, r) or blocks_later(r) or follows(report, r))
        and r.suppression is None
    ]
    for name, findings in by_rule(wanted).items():
        rule = report.rule(findings[0])
        kind = worst(findings)
        level = min((f.level for f in findings), key=_WEIGHT.__getitem__)
        says = tuple((f.kind, f.level, f.message, f.location) for f in findings)
        # Only open rules share a cause (one missing file opens many of them); a fail is each rule's own.
        key: object = says if kind is Kind.OPEN else name
        known = groups.get(key)
        groups[key] = Group(
            rules=(*known.rules, rule) if known else (rule,),
            gates=(gate.gate,),
            kind=kind,
            level=level,
            findings=known.findings if known else tuple(findings),
        )
    return tuple(sorted(groups.values(), key=_order))


def repeated_groups(report: Report) -> tuple[Group, ...]:
    """What a rule leaves open on several gates in the same words and without a place."""
    found: dict[tuple[str, str], list[Result]] = {}
    for gate in report.gates:
        for results in by_rule(gate.findings).values():
            first = results[0]
            is_plain = len(results) == 1 and first.kind is Kind.OPEN and first.location is None
            if is_plain and not is_unsigned(report, first) and not blocks_later(first):
                found.setdefault((report.rule(first).key, first.message), []).append(first)
    return tuple(
        Group(
            rules=(report.rules[key],),
            gates=tuple(r.gate for r in results),
            kind=Kind.OPEN,
            level=results[0].level,
            findings=tuple(results),
        )
        for (key, _), results in sorted(found.items())
        if len(results) > 1
    )


def follow_groups(report: Report) -> tuple[Group, ...]:
    """What follows from a change, by rule over all gates, errors first."""
    groups = _groups_over_gates(report, [r for r in report.findings if follows(report, r)])
    return tuple(sorted(groups, key=lambda group: (_WEIGHT[group.level], follow_rank(group.rules[0].id))))


def trust_groups(report: Report) -> tuple[Group, ...]:
    """What waits for runs and signatures, by rule over all gates: in the order in which it is supplied."""
    groups = _groups_over_gates(report, [r for r in report.findings if is_unsigned(report, r)])
    return tuple(sorted(groups, key=lambda group: wait_rank(group.rules[0].id)))


def block_groups(report: Report) -> tuple[Group, ...]:
    """What stops later gates, by rule over all gates."""
    return _groups_over_gates(report, [r for r in report.findings if blocks_later(r)])


def _groups_over_gates(report: Report, chosen: Iterable[Result]) -> tuple[Group, ...]:
    found: dict[str, list[Result]] = {}
    for result in chosen:
        found.setdefault(report.rule(result).key, []).append(result)
    return tuple(
        Group(
            rules=(report.rules[key],),
            gates=tuple(dict.fromkeys(r.gate for r in results)),
            kind=worst(results),
            level=results[0].level,
            findings=tuple(results),
        )
        for key, results in sorted(found.items())
    )


def _order(group: Group) -> tuple[int, int, int, str]:
    rule = group.rules[0]
    return (_WEIGHT[group.level], rank(rule.id, group.kind), _WORST_FIRST.index(group.kind), rule.key)
