"""The meta-policy: each demand complains of the rule that breaks it, and of no other."""

from dataclasses import replace
from pathlib import Path

import pytest

from calaudit.checks import Check, discover
from calaudit.cli import _policy_lint as module
from calaudit.cli._case_tables import kinds_shown
from calaudit.cli._policy_cases import Suite
from calaudit.cli._policy_demands import DEMANDS, UNWAIVABLE, Subject, faults
from calaudit.cli._policy_lint import lint
from calaudit.errors import ContractError
from calaudit.model import Kind, Level, Rule
from tests.policies.make import policy

GOOD = Rule(
    id="some-rule",
    gate="G1",
    level=Level.ERROR,
    title="It holds",
    why="Because.",
    fix="Mend it.",
    kinds=frozenset({Kind.PASS, Kind.FAIL}),
)
BLOCKING = "def run(view):\n    yield view.open('x', blocks=Verdict.BLOCKED_COMPILER)\n"

BROKEN = {
    "id-kebab-case": (Subject(rule=replace(GOOD, id="Some_rule")), "an id is kebab-case"),
    "title-short": (Subject(rule=replace(GOOD, title="Long " * 30)), "the title has 150 characters"),
    "prose-there": (Subject(rule=replace(GOOD, why=" ")), "why is empty"),
    "prose-there, no title": (Subject(rule=replace(GOOD, title="")), "title is empty"),
    "prose-there, no fix": (Subject(rule=replace(GOOD, fix="")), "fix is empty"),
    "prose-there, small": (Subject(rule=replace(GOOD, fix="mend it.")), "fix begins with a small letter"),
    "sentences-end": (Subject(rule=replace(GOOD, fix="Mend it")), "fix is a sentence and ends with a full stop"),
    "kinds-judge": (Subject(rule=replace(GOOD, kinds=frozenset({Kind.PASS}))), "judges nothing"),
    "since-known": (Subject(rule=replace(GOOD, since="99.0")), "a rule cannot be newer than what has it"),
    "since-known, no version": (Subject(rule=replace(GOOD, since="soon")), "since is 'soon', not a version"),
    "unwaivable": (Subject(rule=GOOD, threshold=True), "it is a hard threshold of its gate, so it must be unwaivable"),
    "cases-complete": (Subject(rule=GOOD, shown=frozenset({"pass"})), "tests/cases/G1.some-rule.toml expects fail"),
    "cases-complete, none": (Subject(rule=GOOD, shown=frozenset()), "expects fail, pass"),
}


def test_a_good_rule_satisfies_all() -> None:
    assert list(faults(Subject(rule=GOOD))) == []
    assert list(faults(Subject(rule=GOOD, shown=frozenset({"pass", "fail", "open"})))) == []


@pytest.mark.parametrize(("subject", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_breaks_one(subject: Subject, message: str) -> None:
    (fault,) = faults(subject)
    assert message in fault


def test_every_demand_is_shown() -> None:
    assert {name.partition(",")[0] for name in BROKEN} == {demand.name for demand in DEMANDS}


NEVER_WAIVED = {
    "is a hard threshold of its gate": [Subject(rule=GOOD, threshold=True)],
    "is about hashes": [
        Subject(rule=replace(GOOD, id=id_))
        for id_ in ("digest-mismatch", "external-data-checksum", "weights-unhashed", "chain-broken")
    ],
    "says whether it is the same model": [
        Subject(rule=replace(GOOD, id=id_))
        for id_ in ("tokenizer-changed", "weights-differ-from-source", "model-revision-mismatch", "revision-not-pinned")
    ],
    "is about licences": [Subject(rule=replace(GOOD, id="license-unknown"))],
    "is about signatures": [Subject(rule=replace(GOOD, trust=True))],
    "gives a BLOCKED verdict": [
        Subject(rule=GOOD, source=BLOCKING),
        Subject(rule=replace(GOOD, id="blocked-reproducibility")),
    ],
}


@pytest.mark.parametrize("reason", UNWAIVABLE)
def test_what_no_waiver_may_reach(reason: str) -> None:
    for subject in NEVER_WAIVED[reason]:
        assert list(faults(subject)) == [f"it {reason}, so it must be unwaivable"]
        assert list(faults(replace(subject, rule=replace(subject.rule, unwaivable=True)))) == []


@pytest.mark.parametrize("id_", ["digests", "checksum", "licensed-elsewhere", "blocked", "unchain-broken"])
def test_what_is_only_called_alike_may_be_waived(id_: str) -> None:
    assert list(faults(Subject(rule=replace(GOOD, id=id_)))) == []


def test_a_date_alone_is_no_signature() -> None:
    assert list(faults(Subject(rule=replace(GOOD, trust=True), dated=True))) == []


def test_lint_asks_it_of_checks_and_of_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    check = next(item for item in discover() if item.rule.key == "port.kickoff-incomplete")
    bad = Check(replace(check.rule, unwaivable=False, since="9.9"), check.run)
    monkeypatch.setattr(module, "discover", lambda: (bad,))
    rule = policy("facts.a.yes", id="license-odd", effective_on="2027-01-01")
    found = list(lint([Suite(policy="policies/some.yaml", rules=[rule])], {"G0.license-odd"}, {}))
    assert any("kickoff_incomplete: kickoff-incomplete: it gives a BLOCKED verdict" in fault for fault in found)
    assert any("kickoff-incomplete: since is 9.9" in fault for fault in found)
    assert any("port.kickoff-incomplete.toml expects open, pass" in fault for fault in found)
    assert any("license-odd: it is a hard threshold of its gate and is about licences" in fault for fault in found)
    assert not any("toml" in fault for fault in lint([], set(), None))


def test_case_tables_are_looked_for(tmp_path: Path) -> None:
    assert kinds_shown(tmp_path) is None
    tables = tmp_path / "tests" / "cases"
    tables.mkdir(parents=True)
    (tables / "G1.some-rule.toml").write_text('[[case]]\nname = "n"\nexpect = ["fail: this: and that", "pass"]\n')
    assert kinds_shown(tmp_path) == {"G1.some-rule": {"fail", "pass"}}
    (tables / "G1.other.toml").write_text("[[case]]\nname = 'n'\n")
    with pytest.raises(ContractError, match=r"tests/cases/G1\.other\.toml"):
        kinds_shown(tmp_path)


def test_here_the_tables_are_found() -> None:
    shown = kinds_shown()
    assert shown is not None
    assert {"pass", "fail"} <= shown["G2.greedy-mismatch"]
