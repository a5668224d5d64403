"""Every known way in which a policy engine passes by accident, and what ours says instead."""

import math
from datetime import date
from enum import StrEnum
from types import MappingProxyType

import pytest

from calaudit.errors import ContractError, MissingFact
from tests.policies.make import judge, kinds, policy

GOOD = {
    "a": {
        "n": 2,
        "f": 2.5,
        "yes": True,
        "no": False,
        "word": "w",
        "nil": None,
        "nan": math.nan,
        "inf": math.inf,
        "huge": 2**63,
        "empty": [],
        "list": [1, 2, 3],
        "words": ["x", "y"],
        "holes": [1, None],
        "nans": [1.0, math.nan],
        "map": {"k": 1},
        "nomap": {},
        "items": [{"n": 1, "m": 5}, {"n": 2, "m": 6}],
        "ragged": [{"n": 1}, {"n": 2, "m": 6}],
        "nested": [{"l": [1]}, {"l": []}],
        "long": list(range(20_000)),
        "bytes": b"x",
    }
}

PASSES = [
    "facts.a.n <= params.limit",
    "facts.a.f < params.limit && facts.a.yes",
    "facts.a.list.all(x, x <= params.limit)",
    "facts.a.items.all(i, i.n < i.m)",
    "facts.a.n in params.batches",
    "facts.a.words == ['x', 'y']",
    "facts.a.map == {'k': 1}",
    "facts.a.items.exists(i, i.n == 2)",
    "facts.a.items.filter(i, i.n == 2).size() == 1",
    "params.batches.all(b, b in facts.a.list)",
    "facts.a.n == 2.0",
    "facts.a.word.matches('^w$')",
]
FAILS = ["facts.a.n > params.limit", "facts.a.no", "facts.a.list.all(x, x < 3)", "!facts.a.yes", "facts.a.word != 'w'"]
OPEN = {
    # missing, however the rest would decide
    "facts.a.gone.x > 1.0 || facts.a.yes": "facts.a.gone is missing",
    "facts.a.yes || facts.a.gone > 1": "facts.a.gone is missing",
    "true || facts.a.gone > 1": "facts.a.gone is missing",
    "facts.a.gone != 'x'": "facts.a.gone is missing",
    "!(facts.a.gone in ['x'])": "facts.a.gone is missing",
    "facts.a.yes ? facts.a.yes : facts.a.gone": "facts.a.gone is missing",
    "facts.a.n.deeper != 1": "facts.a.n.deeper is missing",
    "facts.a.items.all(i, i.n > 0 || i.gone > 1)": "facts.a.items[0].gone is missing",
    "facts.a.ragged.all(i, i.n > 0 || i.m > 1)": "facts.a.ragged[0].m is missing",
    # null
    "facts.a.nil != 1": "facts.a.nil is null",
    "facts.a.nil == 1 || facts.a.yes": "facts.a.nil is null",
    "facts.a.holes.all(x, x != 7)": "facts.a.holes[1] is null",
    "!(7 in facts.a.holes)": "facts.a.holes[1] is null",
    "facts.a.nil.all(x, x > 1)": "facts.a.nil is null",
    # numbers that cannot fail
    "!(facts.a.nan > 1.0)": "facts.a.nan is nan, not a finite number",
    "facts.a.nan != 1.0": "not a finite number",
    "facts.a.inf > 1.0": "facts.a.inf is inf, not a finite number",
    "facts.a.nans.all(x, !(x > 1.0))": "facts.a.nans[1] is nan",
    "facts.a.huge > 1": "beyond 64-bit integers",
    # nothing was examined
    "facts.a.empty.all(x, x > 1)": "facts.a.empty is empty: nothing was examined",
    "size(facts.a.empty) == 0": "facts.a.empty is empty: nothing was examined",
    "!('x' in facts.a.empty)": "facts.a.empty is empty",
    "!facts.a.empty.exists(x, x > 1)": "facts.a.empty is empty",
    "facts.a.nomap != {'k': 1}": "facts.a.nomap is empty",
    "facts.a.nested.all(i, i.l.all(x, x == 1))": "facts.a.nested[1].l is empty",
    "params.none.all(p, p in facts.a.list)": "params.none is empty",
    # errors, which are truthy values
    "facts.a.n / 0 == 1": "divide by zero",
    "facts.a.word > 1": "No matching overloads",
    "int(facts.a.word) > 1": "",
    "facts.a.n": "gives a INT, not a BOOL",
    "facts.a.word": "gives a STRING, not a BOOL",
    "facts.a.n ? true : false": "",
    "facts.a.yes && facts.a.word": "",
    "facts.a.list.all(x, x / 0 > 1)": "divide by zero",
    # the budget
    "facts.a.long.all(x, x >= 0)": "budget",
    "facts.a.list.all(x, facts.a.long.exists(y, y == x + 19990))": "budget",
    # not iterable, not readable
    "facts.a.n.all(x, x > 0)": "facts.a.n is not a list",
    "facts.a.map.all(k, k != 'x')": "facts.a.map is not a list",
    "facts.a.bytes != 'x'": "is a bytes",
}


@pytest.mark.parametrize("require", PASSES)
def test_true_passes(require):
    assert kinds(policy(require), GOOD) == ["pass"]


@pytest.mark.parametrize("require", FAILS)
def test_false_fails(require):
    assert kinds(policy(require), GOOD) == ["fail"]


@pytest.mark.parametrize(("require", "why"), OPEN.items(), ids=OPEN)
def test_what_cannot_be_said_is_open(require, why):
    (outcome,) = judge(policy(require), GOOD)
    assert outcome.kind == "open"
    assert why in outcome.message


@pytest.mark.parametrize(("require", "why"), OPEN.items(), ids=OPEN)
def test_a_condition_that_cannot_be_said_is_open(require, why):
    (outcome,) = judge(policy("facts.a.yes", when=require), GOOD)
    assert outcome.kind == "open"
    assert "Whether the rule applies cannot be said" in outcome.message
    assert why in outcome.message


def test_a_missing_subject_is_the_engines_open():
    with pytest.raises(MissingFact, match="no fact b"):
        judge(policy("facts.a.yes || facts.b.x"), GOOD)
    with pytest.raises(MissingFact, match="no fact b"):
        judge(policy("facts.a.yes", when="facts.b.x"), GOOD)


def test_when_decides_before_require_is_looked_at():
    rule = policy("facts.b.gone", when='port.stage == "release"')
    assert kinds(rule, GOOD) == ["notApplicable"]
    with pytest.raises(MissingFact):
        judge(rule, GOOD, port={"stage": "release"})
    assert "port.stage" in judge(rule, GOOD)[0].message


def test_the_kinds_follow_from_the_rule():
    assert policy("facts.a.yes").rule.kinds == {"pass", "fail", "open"}
    assert policy("facts.a.yes", when="facts.a.yes").rule.kinds == {"pass", "fail", "open", "notApplicable"}
    with pytest.raises(ContractError, match="leave kinds out"):
        policy("facts.a.yes", kinds=["pass", "fail"])


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("'n is ' + string(facts.a.n)", "n is 2"),
        ("facts.a.word", "w"),
        ("'limit ' + string(params.limit)", "limit 3"),
        ("facts.b.word", "Not so: It holds."),
        ("facts.a.gone", "Not so: It holds."),
        ("'x' + string(facts.a.n / 0)", "Not so: It holds."),
        ("facts.a.n", "Not so: It holds."),
        ("string(facts.a.nil)", "Not so: It holds."),
        ("''", "Not so: It holds."),
    ],
)
def test_a_message_never_hides_the_failure(message, said):
    (outcome,) = judge(policy("facts.a.no", message=message), GOOD)
    assert outcome.kind == "fail"
    assert outcome.message.startswith(said)


@pytest.mark.parametrize(
    ("require", "expected", "actual"),
    [
        ("facts.a.n > params.limit", "> 3", "2"),
        ("facts.a.f == 7.5", "== 7.5", "2.5"),
        ("facts.a.no == true", "== true", "false"),
        ("facts.a.word in params.batches", "in [1, 2]", "w"),
        ("facts.a.n + 1 > 9", None, None),
        ("facts.a.no && facts.a.yes", None, None),
    ],
)
def test_a_comparison_says_expected_and_actual(require, expected, actual):
    (outcome,) = judge(policy(require), GOOD)
    assert (outcome.kind, outcome.expected, outcome.actual) == ("fail", expected, actual)


class TestEach:
    def test_every_item_is_judged(self):
        rule = policy("item.n <= 1", each="facts.a.items", message="'n is ' + string(item.n)")
        assert [(o.kind, o.message) for o in judge(rule, GOOD)] == [("pass", ""), ("fail", "n is 2")]

    def test_the_comparison_of_an_item(self):
        rule = policy("item.n <= 1", each="facts.a.items")
        assert [(o.expected, o.actual) for o in judge(rule, GOOD) if o.kind == "fail"] == [("<= 1", "2")]

    def test_items_may_be_plain(self):
        assert kinds(policy("item in ['x']", each="facts.a.words"), GOOD) == ["pass", "fail"]

    def test_a_missing_member_is_open_for_its_item(self):
        rule = policy("item.n > 0 || item.m > 1", each="facts.a.ragged")
        assert kinds(rule, GOOD) == ["open", "pass"]

    def test_a_null_item_is_open(self):
        assert kinds(policy("item != 7", each="facts.a.holes"), GOOD) == ["pass", "open"]

    @pytest.mark.parametrize("member", ["empty", "nil", "gone", "n", "map"])
    def test_no_items_is_open(self, member):
        assert kinds(policy("item > 0", each=f"facts.a.{member}"), GOOD) == ["open"]

    def test_long_lists_have_no_budget(self):
        assert set(kinds(policy("item >= 0", each="facts.a.long"), GOOD)) == {"pass"}
        assert len(kinds(policy("item >= 0", each="facts.a.long"), GOOD)) == 20_000

    def test_other_facts_can_be_read(self):
        assert kinds(policy("item.n <= facts.a.n", each="facts.a.items"), GOOD) == ["pass", "pass"]
        with pytest.raises(MissingFact):
            judge(policy("item.n <= facts.b.n", each="facts.a.items"), GOOD)

    def test_require_must_look_at_the_item(self):
        with pytest.raises(ContractError, match="reads no item"):
            policy("facts.a.n > 1", each="facts.a.items")


class Colour(StrEnum):
    RED = "red"


def test_facts_come_as_enums_tuples_and_read_only_maps():
    facts = {"a": MappingProxyType({"c": Colour.RED, "t": (Colour.RED, "blue"), "m": MappingProxyType({"k": (1,)})})}
    assert kinds(policy("facts.a.c == 'red' && 'red' in facts.a.t && facts.a.m.k == [1]"), facts) == ["pass"]


def test_a_param_that_is_not_finite_is_open():
    assert kinds(policy("!(facts.a.f > params.limit)"), GOOD, params={"limit": math.nan}) == ["open"]


def test_a_param_that_is_absent_is_open():
    rule = policy("facts.a.yes || params.limit > 1")
    values = judge(rule, GOOD, params={"limit": None})
    assert [str(o.kind) for o in values] == ["open"]


def test_an_open_rule_lists_a_few_gaps_only():
    facts = {"a": {"l": [{} for _ in range(50)]}}
    (outcome,) = judge(policy("facts.a.l.all(x, x.y > 1)"), facts)
    assert outcome.message.count("missing") == 3
    assert outcome.message.endswith("and more.")


@pytest.mark.parametrize("require", ["true", "params.limit > 1", 'port.stage == "release"', "1 == 1"])
def test_a_rule_without_facts_is_refused(require):
    with pytest.raises(ContractError, match="reads no fact"):
        policy(require)


def test_an_effective_date_is_kept():
    assert policy("facts.a.yes", effective_on="2027-01-01").effective_on == date(2027, 1, 1)
    assert policy("facts.a.yes").effective_on is None


@pytest.mark.parametrize("name", ["limits", "Limit", "soak_hours"])
def test_params_must_be_declared(name):
    with pytest.raises(ContractError, match=f"declares no param {name}"):
        policy(f"facts.a.n <= params.{name}")
    with pytest.raises(ContractError, match="declares no param"):
        policy("facts.a.yes", message=f"string(params.{name})")
