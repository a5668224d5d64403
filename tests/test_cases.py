"""Every case of every table, and that the tables are complete."""

from collections import defaultdict
from collections.abc import Callable
from fnmatch import fnmatchcase as fnmatch
from functools import cache
from pathlib import Path

import pytest

from calaudit import Report, Result, audit
from calaudit.checks.catalogue import catalogue
from calaudit.contract import Contract
from calaudit.model import EVERY_GATE
from calaudit.model import PORT as PORT_GATE
from tests import guard, memo
from tests.casebook import PORT, Case, cases, copy_port, iter_rules
from tests.trust.forgeries import find
from tests.trust.signed_port import signed_copy


def by_rule(report: Report) -> dict[str, list[str]]:
    """What each rule says on each gate; common rules carry the gate: ``common.symlink@G1``."""
    said: dict[str, list[str]] = defaultdict(list)
    for result in report.results:
        rule = report.rule(result)
        key = f"{rule.key}@{result.gate}" if rule.gate == EVERY_GATE else rule.key
        said[key].append(f"{result.kind}: {result.message}")
    return dict(said)


Said = dict[str, list[str]]
Good = Callable[[str], Said]


@pytest.fixture(scope="session")
def good(contract: Contract, tmp_path_factory: pytest.TempPathFactory) -> Good:
    """What the rules say of the good port without signatures, and of each signed one."""

    @cache
    def said(kind: str) -> Said:
        path = tmp_path_factory.mktemp(kind or "unsigned") / "tiny-dense"
        if not kind:
            copy_port(path)
            return by_rule(audit(path, contract=contract))
        report = signed_copy(kind, path, contract).audit()
        assert (report.exit_code, report.notes) == (0, ())
        return by_rule(report)

    return said


@pytest.mark.parametrize("case", cases(), ids=str)
def test_case(case: Case, tmp_path: Path, contract: Contract, good: Good, monkeypatch: pytest.MonkeyPatch) -> None:
    before = good(case.kind)
    said = before if case.changes_nothing else by_rule(judge(case, tmp_path / "tiny-dense", contract, monkeypatch))
    key = f"{case.rule}@{case.judged_on}" if case.rule.startswith("common.") else case.rule
    assert key in said, f"{case.rule} was not planned"
    assert len(said[key]) == len(case.expect), f"expected {case.expect}, got {said[key]}"
    for expected, actual in zip(case.expect, said[key], strict=True):
        kind, _, part = expected.partition(":")
        assert actual.startswith(f"{kind}: "), f"expected {expected}, got {said[key]}"
        assert part.strip() in actual, f"expected {expected}, got {said[key]}"
    changed = {k for k in said.keys() | before.keys() if said.get(k) != before.get(k)} - {key}
    unasked = {k for k in changed if not any(fnmatch(k, pattern) for pattern in case.also)}
    assert unasked == set(), "\n".join(f"{k}: {before.get(k)} -> {said.get(k)}" for k in sorted(unasked))
    assert [pattern for pattern in case.also if not any(fnmatch(k, pattern) for k in changed)] == []


def may_be_nowhere(report: Report, finding: Result) -> bool:
    """Whether a finding is about no file: about a root, a registry and whom they name, about nothing, or about many."""
    rule = report.rule(finding)
    nothing = rule.id == "gate-empty" or "Nothing was examined" in finding.message or rule.title.startswith("Hard thr")
    return rule.trust or nothing or (rule.id == "artifact-unexpected" and "keeps for itself" in finding.message)


def judge(case: Case, path: Path, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Audit a copy of the good port, edited and forged as the case says."""
    port = signed_copy(case.kind, path, contract) if case.kind else None
    if port is None:
        copy_port(path)
    case.apply(path, contract)
    for name in case.forge:
        assert port is not None
        find(name).forge(port)
    case.interfere(monkeypatch, path)
    with guard.inert(), memo.remembered():
        report = audit(path, contract=contract) if port is None else port.audit()
    assert [f"{f.rule}: {f.message}" for f in report.findings if not (f.location or may_be_nowhere(report, f))] == []
    # The one note there may be says what is judged where port.yaml cannot be used.
    assert [note for note in report.notes if not note.startswith("port.yaml ")] == []
    return report


def test_every_rule_shows_every_kind_it_declares(contract: Contract) -> None:
    shown = defaultdict(set)
    for rule, kind in iter_rules(cases()):
        shown[rule].add(kind)
    rules = [c.rule for c in catalogue(contract)]
    # A policy rule shows its kinds in the *.test.yaml beside it; `calaudit policy test` demands each of them.
    wanted = {rule.key: {str(k) for k in rule.kinds} if rule.tier == "check" else {"fail"} for rule in rules}
    assert {k: v - shown[k] for k, v in wanted.items() if v - shown[k]} == {}, "kinds without a case"
    assert sorted(shown.keys() - wanted.keys()) == [], "tables of rules that do not exist"


@pytest.mark.parametrize("changed", ["", "01-reference/outputs.jsonl", "02-onnx/model.onnx", memo.TOKENIZER])
def test_what_is_remembered_changes_no_report(changed: str, tmp_path: Path, contract: Contract, good: Good) -> None:
    copy_port(tmp_path / "tiny-dense")
    if changed:
        path = tmp_path / "tiny-dense" / changed
        path.write_bytes(path.read_bytes().replace(b"token", b"taken", 1).replace(b"MatMul", b"MetMul", 1))
    plain = audit(tmp_path / "tiny-dense", contract=contract)
    for _ in range(2):
        with memo.remembered():
            found = audit(tmp_path / "tiny-dense", contract=contract)
        assert (found.verdict, found.results, found.notes) == (plain.verdict, plain.results, plain.notes)
    assert (by_rule(plain) != good("")) == bool(changed)


def test_the_good_port_passes_every_technical_rule(contract: Contract) -> None:
    report = audit(PORT, contract=contract)
    wrong = [
        f"{r.gate} {r.rule}: {r.kind} {r.message} {r.location}"
        for r in report.findings
        if not report.rule(r).trust and r.gate in (PORT_GATE, "G0", "G1", "G2") and not r.blocked_gates
    ]
    assert wrong == []
    assert report.exit_code == 3
