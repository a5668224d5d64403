"""The catalogue: one list of rules, and policies that contradict the facts refused with their place."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar, Literal

import pytest

from calaudit.checks import Check
from calaudit.checks import catalogue as module
from calaudit.checks.catalogue import catalogue, problems
from calaudit.contract.policies import parse_policy
from calaudit.errors import ContractError
from calaudit.facts.schema import facts_schema
from calaudit.model import Gate, Kind, Level, Rule
from tests.policies.make import PARAMS, policy


@dataclass(frozen=True)
class Item:
    name: str
    kind: Literal["prefill", "decode"]
    size: int


@dataclass(frozen=True)
class Fact:
    name: ClassVar[str] = "a"
    n: int
    f: float
    yes: bool
    word: str
    kind: Literal["prefill", "decode"] | None
    items: tuple[Item, ...]


SCHEMA = facts_schema([Fact])

GOOD = [
    "facts.a.n == 1",
    "facts.a.n == 1.5",
    "facts.a.f == 1",
    "facts.a.word != 'x'",
    "facts.a.kind == 'prefill'",
    "facts.a.kind in ['prefill', 'decode']",
    "facts.a.items.all(i, i.size > 0)",
    "facts.a.items.size() == params.limit",
    "port.stage == 'release' || facts.a.yes",
    "facts.a.yes == true",
]
BAD = {
    "facts.a.m == 1": "facts.a.m does not exist",
    "facts.b.n == 1": "facts.b does not exist; there are a",
    "facts.a.items.all(i, i.sice > 0)": "facts.a.items[*].sice does not exist; size is near",
    "facts.a.n.all(i, i > 0)": "facts.a.n is not a list",
    "facts.a.word != 3": "facts.a.word is string and 3 is number: they can never be compared",
    "facts.a.n == 'x'": "they can never be compared",
    "facts.a.yes == 1": "facts.a.yes is boolean and 1 is number",
    "'x' == facts.a.n": "they can never be compared",
    "facts.a.word > 1": "they can never be compared",
    "facts.a.word <= params.limit": "facts.a.word is string and params.limit is number",
    "facts.a.word in params.batches": "facts.a.word is string and params.batches[*] is number",
    "facts.a.items.all(i, i.name == facts.a.n)": "facts.a.items[*].name is string and facts.a.n is integer",
    "3 in facts.a.items": "they can never be compared",
    "facts.a.items.map(i, i.name).all(n, n == 'x') || facts.a.word == 3": "facts.a.word is string",
    "facts.a.kind == 'prefil'": "can never be 'prefil'; it is one of prefill, decode",
    "facts.a.kind in ['prefill', 'x']": "can never be 'x'",
    "facts.a.n != null": "compared with null",
    "facts.a.items.all(i, i.kind == 'x')": "can never be 'x'",
    "port.stage == 'relase' || facts.a.yes": "can never be 'relase'; it is one of development, candidate, release",
    "port.claim == 'G11' || facts.a.yes": "can never be 'G11'",
}


@pytest.mark.parametrize("require", GOOD)
def test_a_policy_that_fits_the_facts(require):
    assert list(problems(policy(require), SCHEMA, PARAMS)) == []


@pytest.mark.parametrize(("require", "problem"), BAD.items(), ids=BAD)
def test_a_policy_that_contradicts_the_facts(require, problem):
    found = [text for _, text in problems(policy(require), SCHEMA, PARAMS)]
    assert any(problem in text for text in found), found


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"when": "facts.a.m == 1"}, "facts.a.m"),
        ({"message": "facts.a.m"}, "facts.a.m"),
        ({"each": "facts.a.n", "require": "item > 1"}, "facts.a.n is not a list"),
        ({"each": "facts.a.items", "require": "item.sice > 1"}, "facts.a.items[*].sice"),
        ({"each": "facts.a.items", "require": "item.kind == 'x'"}, "can never be 'x'"),
        ({"each": "facts.a.itms", "require": "item.size > 1"}, "facts.a.itms does not exist; items is near"),
    ],
)
def test_every_member_is_checked(members, problem):
    rule = policy(**{"require": "facts.a.yes", **members})
    assert any(problem in text for _, text in problems(rule, SCHEMA, PARAMS))


def rule(key, **members):
    gate, _, rule_id = key.partition(".")
    return Rule(
        id=rule_id, gate="*" if gate == "common" else gate, level=Level.ERROR, title="T", why="w", fix="f",
        kinds=frozenset({Kind.PASS}), **members,
    )  # fmt: skip


def contract(*policies, thresholds=()):
    gate = Gate(id="G0", name="n", title="t", owner="o", output="x", back_to="b", threshold=thresholds)
    return SimpleNamespace(
        gates=SimpleNamespace(gates={"G0": gate}),
        policies=policies,
        params=PARAMS,
        profiles={},
        cue=(),
        tightenings=(),
        as_of=None,
    )


@pytest.fixture
def shipped(monkeypatch):
    """Stands in for the checks that calaudit ships."""

    def ship(*keys):
        checks = tuple(Check(rule(key), lambda _: iter(())) for key in keys)
        monkeypatch.setattr(module, "discover", lambda: checks)
        monkeypatch.setattr(module, "_schema", lambda: SCHEMA)

    return ship


def test_rules_come_sorted_by_key(shipped):
    shipped("common.symlink", "G0.z", "G0.a")
    keys = [item.rule.key for item in catalogue(contract(policy("facts.a.yes")))]
    assert keys == ["G0.a", "G0.some-rule", "G0.z", "common.symlink"]


def test_two_rules_with_one_key_are_an_error(shipped):
    shipped("G0.some-rule")
    with pytest.raises(ContractError, match=r"Two rules are called G0\.some-rule"):
        catalogue(contract(policy("facts.a.yes")))


def test_an_id_cannot_be_common_and_of_a_gate(shipped):
    shipped("common.some-rule")
    with pytest.raises(ContractError, match="id of a rule of every gate"):
        catalogue(contract(policy("facts.a.yes")))


def test_a_gate_must_exist(shipped):
    shipped()
    lost = policy("facts.a.yes")
    with pytest.raises(ContractError, match="there is no gate G7"):
        catalogue(contract(replace(lost, rule=replace(lost.rule, gate="G7"))))


def test_hard_thresholds_cannot_be_waived(shipped):
    shipped("G0.a", "G0.b")
    found = {item.rule.key: item.rule.unwaivable for item in catalogue(contract(thresholds=("a", "absent")))}
    assert found == {"G0.a": True, "G0.b": False}


def test_a_hard_threshold_is_an_error(shipped):
    shipped()
    with pytest.raises(ContractError, match="its level must be error"):
        catalogue(contract(policy("facts.a.yes", level="warning"), thresholds=("some-rule",)))


def test_an_error_has_a_place(shipped, tmp_path):
    shipped()
    path = tmp_path / "g00-x.yaml"
    path.write_text(
        "schema: calaudit-policy/v1\ngate: G0\nrules:\n  - id: some-rule\n    require: >\n"
        "      facts.a.yes &&\n      facts.a.m == 1\n",
        encoding="utf-8",
    )
    raw = {
        "id": "some-rule", "level": "error", "title": "t", "why": "w", "fix": "f", "message": "'m'",
        "require": "facts.a.yes && facts.a.m == 1\n",
    }  # fmt: skip
    rules = parse_policy({"gate": "G0", "rules": [raw]}, where="policies/g00-x.yaml", params={}, path=path)
    with pytest.raises(ContractError, match=r"^policies/g00-x\.yaml:7:7: some-rule: facts\.a\.m does not exist"):
        catalogue(contract(*rules))


def test_a_rule_stands_once_in_its_policy():
    raw = {
        "id": "x",
        "level": "error",
        "title": "t",
        "why": "w",
        "fix": "f",
        "message": "'m'",
        "require": "facts.a.yes",
    }
    with pytest.raises(ContractError, match="a second time"):
        parse_policy({"gate": "G0", "rules": [raw, raw]}, where="p.yaml", params={})


def test_the_shipped_catalogue_is_whole():
    from calaudit.contract import load_contract

    rules = catalogue(load_contract())
    keys = [item.rule.key for item in rules]
    assert keys == sorted(set(keys))
    assert any(item.rule.tier == "policy" for item in rules) == bool(load_contract().policies)
