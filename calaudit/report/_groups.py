"""Sorting the findings of a report so that a reader meets each matter once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from calaudit.model import GateReport, Kind, Level, Report, Result, Rule

__all__ = [
    "Group",
    "Place",
    "Tally",
    "by_rule",
    "gate_groups",
    "is_unsigned",
    "matters",
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
class Place:
    """Findings of a group that say the same of several places."""

    message: str
    expected: str | None
    findings: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many rules of a gate ended how.

    ``warned`` gave findings that do not decide the verdict; ``unsigned`` are open because nothing is signed.
    """

    passed: int
    failed: int
    open: int
    warned: int
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
    counts: Counter[str] = Counter()
    for results in by_rule(gate.results).values():
        kind = worst(results)
        if kind is Kind.OPEN and all(is_unsigned(report, r) for r in results if r.is_finding):
            counts["unsigned"] += 1
        elif kind in (Kind.FAIL, Kind.OPEN) and not any(r.level is Level.ERROR for r in results):
            counts["warned"] += 1
        else:
            counts[kind] += 1
    return Tally(
        passed=counts[Kind.PASS],
        failed=counts[Kind.FAIL],
        open=counts[Kind.OPEN],
        warned=counts["warned"],
        unsigned=counts["unsigned"],
        not_applicable=counts[Kind.NOT_APPLICABLE],
    )


def is_unsigned(report: Report, result: Result) -> bool:
    """Whether a finding only says that something is not signed yet, or cannot be verified as such."""
    return result.kind is Kind.OPEN and report.rule(result).trust


def gate_groups(report: Report, gate: GateReport, *, but: Sequence[Group] = ()) -> tuple[Group, ...]:
    """The findings of one gate without what waits for signatures and what ``but`` tells, those that decide first."""
    groups: dict[object, Group] = {}
    told = {rule.id for group in but if gate.gate in group.gates for rule in group.rules}
    wanted = [r for r in gate.findings if r.rule not in told and not is_unsigned(report, r)]
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
            if is_plain and not is_unsigned(report, first):
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


def trust_groups(report: Report) -> tuple[Group, ...]:
    """What waits for signatures, by rule over all gates."""
    found: dict[str, list[Result]] = {}
    for result in report.findings:
        if is_unsigned(report, result):
            found.setdefault(report.rule(result).key, []).append(result)
    return tuple(
        Group(
            rules=(report.rules[key],),
            gates=tuple(dict.fromkeys(r.gate for r in results)),
            kind=Kind.OPEN,
            level=results[0].level,
            findings=tuple(results),
        )
        for key, results in sorted(found.items())
    )


def matters(group: Group) -> Iterator[Place]:
    """The findings of a group, those that differ only in their place together."""
    alike: dict[tuple[str, str | None], list[Result]] = {}
    for finding in group.findings:
        alike.setdefault((finding.message, finding.expected), []).append(finding)
    for (message, expected), findings in alike.items():
        yield Place(message=message, expected=expected, findings=tuple(findings))


def _order(group: Group) -> tuple[int, int, str]:
    return (_WEIGHT[group.level], _WORST_FIRST.index(group.kind), group.rules[0].key)
