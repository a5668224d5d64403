"""Every case of every table, and that the tables are complete."""

import shutil
from collections import defaultdict
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path

import pytest

from calaudit import Report, audit
from calaudit.checks.catalogue import catalogue
from calaudit.contract import Contract
from calaudit.model import EVERY_GATE
from calaudit.model import PORT as PORT_GATE
from tests import guard
from tests.casebook import PORT, Case, cases, iter_rules


def by_rule(report: Report) -> dict[str, list[str]]:
    """What each rule says on each gate; common rules carry the gate: ``common.symlink@G1``."""
    said: dict[str, list[str]] = defaultdict(list)
    for result in report.results:
        rule = report.rule(result)
        key = f"{rule.key}@{result.gate}" if rule.gate == EVERY_GATE else rule.key
        said[key].append(f"{result.kind}: {result.message}")
    return dict(said)


@pytest.fixture(scope="session")
def good(contract: Contract) -> dict[str, list[str]]:
    return by_rule(audit(PORT, contract=contract))


@pytest.mark.parametrize("case", cases(), ids=str)
def test_case(
    case: Case, tmp_path: Path, contract: Contract, good: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = tmp_path / "tiny-dense"
    shutil.copytree(PORT, port)
    case.apply(port, contract)
    case.interfere(monkeypatch, port)
    with guard.inert():
        report = audit(port, contract=contract)
    assert report.notes == ()
    said = by_rule(report)
    key = f"{case.rule}@{case.judged_on}" if case.rule.startswith("common.") else case.rule
    assert key in said, f"{case.rule} was not planned"
    assert len(said[key]) == len(case.expect), f"expected {case.expect}, got {said[key]}"
    for expected, actual in zip(case.expect, said[key], strict=True):
        kind, _, part = expected.partition(":")
        assert actual.startswith(f"{kind}: "), f"expected {expected}, got {said[key]}"
        assert part.strip() in actual, f"expected {expected}, got {said[key]}"
    changed = {k for k in said.keys() | good.keys() if said.get(k) != good.get(k)} - {key}
    unasked = {k for k in changed if not any(fnmatch(k, pattern) for pattern in case.also)}
    assert unasked == set(), "\n".join(f"{k}: {good.get(k)} -> {said.get(k)}" for k in sorted(unasked))
    assert [pattern for pattern in case.also if not any(fnmatch(k, pattern) for k in changed)] == []


def test_every_rule_shows_every_kind_it_declares(contract: Contract) -> None:
    shown = defaultdict(set)
    for rule, kind in iter_rules(cases()):
        shown[rule].add(kind)
    rules = [c.rule for c in catalogue(contract)]
    # A policy rule shows its kinds in the *.test.yaml beside it; `calaudit policy test` demands each of them.
    wanted = {rule.key: {str(k) for k in rule.kinds} if rule.tier == "check" else {"fail"} for rule in rules}
    assert {k: v - shown[k] for k, v in wanted.items() if v - shown[k]} == {}, "kinds without a case"
    assert sorted(shown.keys() - wanted.keys()) == [], "tables of rules that do not exist"


def test_the_good_port_passes_every_technical_rule(contract: Contract) -> None:
    report = audit(PORT, contract=contract)
    wrong = [
        f"{r.gate} {r.rule}: {r.kind} {r.message} {r.location}"
        for r in report.findings
        if not report.rule(r).trust and r.gate in (PORT_GATE, "G0", "G1", "G2") and not r.blocked_gates
    ]
    assert wrong == []
    assert report.exit_code == 3
