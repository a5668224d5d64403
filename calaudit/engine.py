"""Plan the rules, run them, judge the gates.

The one invariant: what was planned was executed, or the gate is not passed. A hard-threshold rule that this version
does not have is open; so is a rule that could not judge (``rule_results``).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from calaudit.checks import Check
from calaudit.checks.view import View
from calaudit.contract import Contract, Value
from calaudit.facts import Facts
from calaudit.gate_reports import gate_report, not_started, suppressed, technical_verdict, with_block
from calaudit.judgement import blocked_gates
from calaudit.model import (
    EVERY_GATE,
    PORT,
    Gate,
    GateReport,
    Kind,
    Level,
    Port,
    Result,
    Rule,
    TechnicalVerdict,
)
from calaudit.rule_results import rule_results
from calaudit.trust import Fault, Signed, Trust

Sign = Callable[[Mapping[str, TechnicalVerdict], Mapping[str, Rule]], Signed]
"""Holds a port's signatures against the technical verdicts, given the metadata of the planned rules."""

_LOG = logging.getLogger(__name__)
"""Tracebacks, at debug level: reports carry the sentence, never a machine's paths."""

_ORDER = {gate: n for n, gate in enumerate([PORT, *(f"G{i}" for i in range(11))])}


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the engine hands back: a report for every gate, the rules that were planned, and what crashed."""

    gates: tuple[GateReport, ...]
    rules: Mapping[str, Rule]
    crashes: tuple[str, ...]


def plan_gates(contract: Contract, facts: Facts, through: str) -> tuple[str, ...]:
    """The gates to judge: all up to ``through``, and every later one that has files."""
    gates = list(contract.gates.gates)
    claimed = gates[: gates.index(through) + 1]
    return tuple(g for g in gates if g in claimed or facts.evidence.has_gate(g))


def run(  # noqa: PLR0913 - the station's whole input, by name
    contract: Contract,
    checks: Sequence[Check],
    facts: Facts,
    *,
    port: Port,
    params: Mapping[str, Value],
    planned: Sequence[str],
    signed: Sign,
    on_gate: Callable[[str], None] = lambda _: None,
) -> Run:
    """Judge the port and every planned gate; a gate that is not planned is NOT_STARTED.

    First every gate's technical verdict; then ``signed`` holds the signatures against those verdicts; then the rules
    that need them. ``on_gate`` is called with the id of each gate before it is judged (progress).
    """
    crashes: list[str] = []
    plans = {gate: _plan(contract, checks, gate) for gate in (PORT, *planned)}
    rules = {c.rule.key: c.rule for wanted in plans.values() for c in wanted}
    technical = {}
    for gate, wanted in plans.items():
        on_gate(gate)
        results = _results([c for c in wanted if not c.rule.trust], gate, facts, port, params, None, crashes)
        technical[gate] = technical_verdict(contract, facts, gate, port, results)
    signatures = _signatures(signed, technical, rules, crashes)
    reports = []
    for gate, wanted in plans.items():
        results = _results([c for c in wanted if c.rule.trust], gate, facts, port, params, signatures, crashes)
        results += [suppressed(result, signatures.waivers) for result in technical[gate].results]
        results += _unexecuted(gate, wanted, results, crashes)
        reports.append(gate_report(contract, facts, gate, wanted, results, technical[gate], signatures))
    blocked = blocked_gates(r for report in reports for r in report.results)
    reports = [with_block(report, blocked.get(report.gate)) for report in reports]
    reports += [
        not_started(gate, blocked.get(gate.id), signatures)
        for gate in contract.gates.gates.values()
        if gate.id not in planned
    ]
    return Run(gates=tuple(sorted(reports, key=lambda r: _ORDER[r.gate])), rules=rules, crashes=tuple(crashes))


def _signatures(
    signed: Sign, technical: Mapping[str, TechnicalVerdict], rules: Mapping[str, Rule], crashes: list[str]
) -> Signed:
    try:
        return signed(technical, rules)
    except Exception as error:  # noqa: BLE001 - as a rule's: nothing is signed then, and the run ends with exit code 4
        _LOG.debug("the signatures could not be read", exc_info=error)
        crashes.append(f"The signatures could not be read ({type(error).__name__}: {error}).")
        message = "What is signed could not be read (an internal error)."
        fault = Fault(rule="trust-root-missing", message=message, kind=Kind.OPEN)
        return Signed(trust=Trust(origin="nothing", now=datetime.now(UTC), faults=(fault,)))


def _plan(contract: Contract, checks: Sequence[Check], gate: str) -> list[Check]:
    wanted = [c for c in checks if c.rule.gate in (gate, EVERY_GATE)]
    return wanted + _thresholds_without_rule(contract.gates.gates.get(gate), wanted)


def _results(  # noqa: PLR0913, PLR0917 - what a view is made of
    wanted: Iterable[Check],
    gate: str,
    facts: Facts,
    port: Port,
    params: Mapping[str, Value],
    signatures: Signed | None,
    crashes: list[str],
) -> list[Result]:
    results: list[Result] = []
    for item in wanted:
        results += rule_results(item, View(item.rule, gate, facts, port, params, signatures), crashes)
    return results


def _thresholds_without_rule(gate: Gate | None, wanted: Iterable[Check]) -> list[Check]:
    known = {c.rule.id for c in wanted}
    return [_absent_rule(gate, rule) for rule in (gate.threshold if gate else ()) if rule not in known]


def _absent_rule(gate: Gate | None, rule_id: str) -> Check:
    assert gate is not None  # noqa: S101 - thresholds come from a gate
    rule = Rule(
        id=rule_id,
        gate=gate.id,
        level=Level.ERROR,
        title=f"Hard threshold of {gate.id}",
        why="A gate must not pass by rules that nobody evaluated.",
        fix="Use a version of calaudit that has this rule.",
        kinds=frozenset({Kind.OPEN}),
        unwaivable=True,
    )
    return Check(rule, lambda view: iter([view.open("This version of calaudit cannot judge this hard threshold.")]))


def _unexecuted(gate: str, wanted: Sequence[Check], results: Sequence[Result], crashes: list[str]) -> list[Result]:
    executed = {r.rule for r in results}
    missing = [c.rule for c in wanted if c.rule.id not in executed]
    crashes.extend(f"{rule.key} was planned on {gate} and not executed" for rule in missing)
    return [
        Result(rule=rule.id, gate=gate, kind=Kind.OPEN, level=Level.ERROR, message="Planned and not executed.")
        for rule in missing
    ]
