"""Generated expressions: on whole facts they agree with Python; on damaged facts they never pass."""

import copy
import math

from hypothesis import given
from hypothesis import strategies as st

from tests.policies.make import kinds, policy

NAMES = ("a", "b", "c")
COMPARISONS = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}
NUMBERS = st.one_of(st.integers(-9, 9), st.sampled_from([-1.5, 0.5, 2.25]))
FACTS = st.fixed_dictionaries(
    {
        "n": st.fixed_dictionaries(dict.fromkeys(NAMES, NUMBERS)),
        "t": st.fixed_dictionaries({name: st.booleans() for name in NAMES}),
        "l": st.fixed_dictionaries(
            {
                name: st.lists(st.fixed_dictionaries({"x": NUMBERS, "y": NUMBERS}), min_size=1, max_size=4)
                for name in NAMES
            }
        ),
    }
)


@st.composite
def trees(draw, depth=3):
    """(CEL, the same in Python, the paths it reads)."""
    shape = draw(
        st.sampled_from(["number", "truth", "all", "exists", *(["and", "or", "not", "if", "const"] if depth else [])])
    )
    name = draw(st.sampled_from(NAMES))
    sign = draw(st.sampled_from(sorted(COMPARISONS)))
    compare = COMPARISONS[sign]
    number = draw(st.integers(-9, 9))
    match shape:
        case "number":
            return f"facts.n.{name} {sign} {number}", lambda f: compare(f["n"][name], number), {("n", name)}
        case "truth":
            return f"facts.t.{name}", lambda f: f["t"][name], {("t", name)}
        case "all":
            source = f"facts.l.{name}.all(i, i.x {sign} i.y)"
            return source, lambda f: all(compare(i["x"], i["y"]) for i in f["l"][name]), {("l", name)}
        case "exists":
            source = f"facts.l.{name}.exists(i, i.x {sign} {number})"
            return source, lambda f: any(compare(i["x"], number) for i in f["l"][name]), {("l", name)}
        case "const":
            left, of_left, paths = draw(trees(depth=depth - 1))
            truth = draw(st.booleans())
            return f"({str(truth).lower()} || {left})", lambda f: truth or of_left(f), paths
    left, of_left, left_paths = draw(trees(depth=depth - 1))
    if shape == "not":
        return f"!({left})", lambda f: not of_left(f), left_paths
    right, of_right, right_paths = draw(trees(depth=depth - 1))
    paths = left_paths | right_paths
    if shape == "and":
        return f"({left} && {right})", lambda f: of_left(f) and of_right(f), paths
    if shape == "or":
        return f"({left} || {right})", lambda f: of_left(f) or of_right(f), paths
    return f"({left} ? {right} : {left})", lambda f: of_right(f) if of_left(f) else of_left(f), paths


@given(trees(), FACTS)
def test_whole_facts_are_judged_as_python_judges_them(tree, facts):
    source, truth, _ = tree
    assert kinds(policy(source), facts) == ["pass" if truth(facts) else "fail"]


@given(trees(), FACTS, st.data())
def test_damaged_facts_never_pass(tree, facts, data):
    source, _, paths = tree
    subject, name = data.draw(st.sampled_from(sorted(paths)))
    damaged = copy.deepcopy(facts)
    value = damaged[subject][name]
    damage = data.draw(st.sampled_from(["missing", None, math.nan, math.inf, -math.inf, 2**63, [], {}, b""]))
    inside = subject == "l" and data.draw(st.booleans())
    if inside:
        item, member = data.draw(st.sampled_from(value)), "x"  # `x` is read by every macro
    else:
        item, member = damaged[subject], name
    if isinstance(damage, str):
        del item[member]
    else:
        item[member] = damage
    assert kinds(policy(source), damaged) == ["open"]


@given(trees(), FACTS, st.data())
def test_damage_makes_a_condition_open_too(tree, facts, data):
    source, _, paths = tree
    subject, name = data.draw(st.sampled_from(sorted(paths)))
    damaged = copy.deepcopy(facts)
    damaged[subject][name] = data.draw(st.sampled_from([None, math.nan, []]))
    rule = policy("facts.whole.yes", when=source)
    assert kinds(rule, {**damaged, "whole": {"yes": True}}) == ["open"]
