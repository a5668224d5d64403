"""The engine's invariants, with rules that exist only here: no way to a PASSED gate but examined and found right."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit import engine
from calaudit.api import port_verdict
from calaudit.checks import Check, View
from calaudit.errors import MissingFact
from calaudit.facts import Facts
from calaudit.judgement import judge
from calaudit.model import PORT, Gate, Kind, Level, Location, Port, Result, Rule, Verdict
from calaudit.rule_results import FINDINGS_LIMIT
from calaudit.trust import Signed, establish

ALL = frozenset(Kind)
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def gate(gate_id, threshold=()):
    return Gate(id=gate_id, name="n", title="t", owner="o", output="x", back_to="b", threshold=threshold)


def make(run: Callable[[View], Iterator[Result]], rule_id="rule", gate_id="G0", level="error", **members) -> Check:
    rule = Rule(
        id=rule_id, gate=gate_id, level=Level(level), title="T", why="W", fix="F",
        kinds=members.pop("kinds", ALL), **members,
    )  # fmt: skip
    return Check(rule, run)


def run(*checks, planned=("G0",), thresholds=(), files=("G0",)):
    gates = {"G0": gate("G0", tuple(thresholds)), "G1": gate("G1"), "G2": gate("G2")}
    contract = SimpleNamespace(gates=SimpleNamespace(gates=gates), digest="d")
    evidence = SimpleNamespace(
        of_gate=lambda _: (), has_gate=lambda name: name in files, problems_of=lambda *_: iter(())
    )
    return engine.run(
        contract,
        checks,
        Facts(evidence, contract),
        port=Port(),
        params={},
        planned=planned,
        signed=lambda *_: Signed(trust=establish(None, NOW, None)),  # nobody is trusted
    )


def report(done, gate_id="G0"):
    return next(g for g in done.gates if g.gate == gate_id)


def verdict(*checks, **options):
    return report(run(*checks, **options)).verdict


def passes(view):
    view.saw()
    return iter(())


def fails(view):
    view.saw()
    yield view.fail("wrong")


def opens(view):
    yield view.open("cannot say")


def silent(_):
    return iter(())


def not_applicable(view):
    yield view.not_applicable("no matter")


def misses(_):
    raise MissingFact("no evidence", at=Location(path="a"))
    yield


def crashes(_):
    raise ZeroDivisionError("boom")
    yield


def test_examined_and_silent_passes():
    done = run(make(passes))
    assert report(done).verdict is Verdict.PASSED
    assert [(r.kind, r.examined) for r in report(done).results] == [("pass", 1)]
    assert done.crashes == ()


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (fails, Verdict.FAILED),
        (opens, Verdict.INCOMPLETE),
        (silent, Verdict.INCOMPLETE),
        (misses, Verdict.INCOMPLETE),
        (crashes, Verdict.INCOMPLETE),
    ],
)
def test_one_rule_that_does_not_pass_keeps_the_gate_from_passing(bad, expected):
    assert verdict(make(passes, "good"), make(bad, "bad")) is expected


def test_zero_examined_is_open():
    (result,) = report(run(make(silent))).results
    assert (result.kind, result.examined) == ("open", 0)
    assert "Nothing was examined" in result.message


def test_a_missing_fact_is_open_at_its_place():
    (result,) = report(run(make(misses))).results
    assert (result.kind, result.message, result.location) == ("open", "no evidence", Location(path="a"))


def test_failures_found_before_a_fact_went_missing_survive():
    def check(view):
        yield view.fail("wrong")
        raise MissingFact("no evidence")

    found = report(run(make(check)))
    assert [r.kind for r in found.results] == ["open", "fail"] or [r.kind for r in found.results] == ["fail", "open"]
    assert found.verdict is Verdict.FAILED


@pytest.mark.parametrize(
    "error", [ZeroDivisionError, KeyError, RecursionError, MemoryError, AssertionError, StopAsyncIteration]
)
def test_a_crash_is_open_and_told(error):
    def check(view):
        view.saw()
        raise error("boom")
        yield

    done = run(make(check), make(passes, "good"))
    assert report(done).verdict is Verdict.INCOMPLETE
    assert len(done.crashes) == 1
    assert "G0.rule crashed on G0" in done.crashes[0]
    assert "boom" in done.crashes[0]


def test_a_check_that_is_no_generator_crashes():
    done = run(make(lambda _: None))
    assert report(done).verdict is Verdict.INCOMPLETE
    assert len(done.crashes) == 1


def test_a_crash_does_not_stop_the_other_rules():
    found = report(run(make(crashes, "bad"), make(fails, "worse"))).results
    assert {r.rule: r.kind for r in found} == {"bad": "open", "worse": "fail"}


def test_an_interrupt_is_not_a_result():
    def check(_):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        run(make(check))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": Kind.PASS},
        {"rule": "another"},
        {"gate": "G1"},
        {"level": Level.NOTE},
    ],
    ids=str,
)
def test_a_rule_that_speaks_out_of_turn_is_a_crash(change):
    def check(view):
        view.saw()
        yield replace(view.open("x"), **change)

    done = run(make(check), make(passes, "good"))
    assert report(done).verdict is Verdict.INCOMPLETE
    assert len(done.crashes) == 1


def test_a_kind_that_was_not_declared_is_a_crash():
    done = run(make(not_applicable, kinds=frozenset({Kind.PASS, Kind.OPEN})), make(passes, "good"))
    assert report(done).verdict is Verdict.INCOMPLETE
    assert "does not declare" in done.crashes[0]


def test_what_was_planned_and_not_executed_is_open(monkeypatch):
    monkeypatch.setattr(engine, "rule_results", lambda *_: [])
    done = run(make(passes))
    assert report(done).verdict is Verdict.INCOMPLETE
    assert [r.message for r in report(done).results] == ["Planned and not executed."]
    assert any("not executed" in crash for crash in done.crashes)


class TestThresholds:
    def test_one_without_a_rule_is_open(self):
        done = run(make(passes), thresholds=["absent"])
        assert report(done).verdict is Verdict.INCOMPLETE
        assert {r.rule: r.kind for r in report(done).results} == {"rule": "pass", "absent": "open"}
        assert done.rules["G0.absent"].unwaivable

    def test_one_with_its_rule_is_judged_by_it(self):
        assert verdict(make(passes), thresholds=["rule"]) is Verdict.PASSED
        assert verdict(make(fails), thresholds=["rule"]) is Verdict.FAILED

    def test_another_gates_rule_does_not_count(self):
        assert verdict(make(passes), make(passes, "absent", "G1"), thresholds=["absent"]) is Verdict.INCOMPLETE


class TestLimit:
    def test_the_rest_is_counted(self):
        def check(view):
            for n in view.each(range(FINDINGS_LIMIT + 7)):
                yield view.fail(f"wrong {n}", at=Location(path="a", line=n))

        found = report(run(make(check))).results
        assert len(found) == FINDINGS_LIMIT + 1
        assert [r.message for r in found if r.location is None] == ["… and 7 more of this rule."]
        assert {r.examined for r in found} == {FINDINGS_LIMIT + 7}

    def test_a_failure_beyond_the_limit_still_fails(self):
        def check(view):
            for n in range(FINDINGS_LIMIT):
                yield view.not_applicable(f"{n}")
            yield view.open("cannot say")
            yield view.fail("wrong")

        assert verdict(make(check), make(passes, "good")) is Verdict.FAILED

    def test_an_exact_limit_has_no_rest(self):
        def check(view):
            for _ in range(FINDINGS_LIMIT):
                yield view.open("x")

        assert len(report(run(make(check))).results) == FINDINGS_LIMIT


class TestLevels:
    @pytest.mark.parametrize("level", ["warning", "note"])
    @pytest.mark.parametrize("check", [fails, opens, silent, misses])
    def test_a_warning_never_decides(self, level, check):
        assert verdict(make(passes), make(check, "soft", level=level)) is Verdict.PASSED

    @pytest.mark.parametrize("level", ["warning", "note"])
    def test_warnings_alone_never_pass(self, level):
        assert verdict(make(passes, level=level)) is Verdict.INCOMPLETE

    def test_what_does_not_apply_alone_never_passes(self):
        assert verdict(make(not_applicable)) is Verdict.INCOMPLETE
        assert verdict(make(not_applicable), make(passes, "soft", level="warning")) is Verdict.INCOMPLETE
        assert verdict(make(not_applicable), make(passes, "good")) is Verdict.PASSED

    def test_no_rules_never_pass(self):
        assert verdict() is Verdict.INCOMPLETE
        assert report(run(), PORT).verdict is Verdict.INCOMPLETE


class TestBlocks:
    @staticmethod
    def blocking(*gates, block=Verdict.BLOCKED_COMPILER, level="error", kind="open"):
        def check(view):
            found = view.open("waits for the vendor", blocks=block, blocked_gates=gates)
            yield replace(found, kind=Kind(kind))

        return make(check, "kickoff", PORT, level=level)

    def test_a_gate_blocks_itself(self):
        def check(view):
            yield view.fail("differs", blocks=Verdict.BLOCKED_REPRODUCIBILITY)

        assert verdict(make(check), make(passes, "good")) is Verdict.BLOCKED_REPRODUCIBILITY
        assert verdict(make(check), make(fails, "bad")) is Verdict.FAILED

    def test_a_gate_is_blocked_from_outside(self):
        done = run(self.blocking("G0", "G1"), make(passes), make(passes, "port", PORT))
        assert report(done, "G0").verdict is Verdict.BLOCKED_COMPILER
        assert report(done, "G1").verdict is Verdict.BLOCKED_COMPILER
        assert report(done, "G2").verdict is Verdict.NOT_STARTED
        assert report(done, PORT).verdict is Verdict.PASSED

    def test_failed_is_worse_than_blocked(self):
        assert verdict(self.blocking("G0"), make(fails)) is Verdict.FAILED

    @pytest.mark.parametrize(
        ("block", "expected"),
        [
            (Verdict.BLOCKED_COMPILER, Verdict.BLOCKED_REPRODUCIBILITY),
            (Verdict.INCOMPLETE, Verdict.BLOCKED_REPRODUCIBILITY),
            (Verdict.PASSED, Verdict.BLOCKED_REPRODUCIBILITY),
        ],
    )
    def test_a_block_never_betters_a_verdict(self, block, expected):
        def check(view):
            yield view.open("differs", blocks=Verdict.BLOCKED_REPRODUCIBILITY)

        assert verdict(self.blocking("G0", block=block), make(check)) is expected

    def test_the_worst_block_counts(self):
        first = self.blocking("G0", block=Verdict.BLOCKED_REPRODUCIBILITY)

        def check(view):
            yield view.open("x", blocks=Verdict.INCOMPLETE, blocked_gates=("G0",))

        second = make(check, "second", PORT)
        assert verdict(first, second, make(passes)) is Verdict.BLOCKED_REPRODUCIBILITY
        assert verdict(second, first, make(passes)) is Verdict.BLOCKED_REPRODUCIBILITY

    def test_a_warning_blocks_nothing(self):
        assert verdict(self.blocking("G0", level="warning"), make(passes)) is Verdict.PASSED

    def test_a_failure_that_blocks_others_fails_its_own_gate(self):
        done = run(self.blocking("G0", kind="fail"), make(passes), make(passes, "port", PORT))
        assert report(done, PORT).verdict is Verdict.FAILED
        assert report(done, "G0").verdict is Verdict.BLOCKED_COMPILER


class TestTrust:
    def test_a_trust_rule_counts_for_the_gate_and_not_for_the_technical_verdict(self):
        found = report(run(make(passes), make(opens, "signoff", trust=True)))
        assert (found.verdict, found.technical) == (Verdict.INCOMPLETE, Verdict.PASSED)

    def test_trust_rules_do_not_move_the_technical_digest(self):
        one = report(run(make(passes), make(opens, "signoff", trust=True)))
        two = report(run(make(passes), make(fails, "signoff", trust=True)))
        other = report(run(make(fails), make(opens, "signoff", trust=True)))
        assert one.technical_digest == two.technical_digest != other.technical_digest

    def test_trust_rules_alone_leave_the_technical_verdict_open(self):
        assert report(run(make(passes, trust=True))).technical is Verdict.INCOMPLETE


class TestPlan:
    def test_all_gates_to_the_claim_and_later_ones_with_files(self):
        gates = {name: gate(name) for name in ("G0", "G1", "G2")}
        contract = SimpleNamespace(gates=SimpleNamespace(gates=gates))
        facts = SimpleNamespace(evidence=SimpleNamespace(has_gate=lambda name: name == "G2"))
        assert engine.plan_gates(contract, facts, "G0") == ("G0", "G2")
        assert engine.plan_gates(contract, facts, "G1") == ("G0", "G1", "G2")

    def test_a_rule_of_every_gate_runs_on_each_and_on_the_port(self):
        done = run(make(passes, gate_id="*"), planned=("G0", "G1"))
        assert [(r.gate, r.kind) for g in done.gates for r in g.results] == [(g, "pass") for g in (PORT, "G0", "G1")]
        assert list(done.rules) == ["common.rule"]

    def test_reports_come_in_the_order_of_the_gates(self):
        assert [g.gate for g in run(planned=("G2", "G0")).gates] == [PORT, "G0", "G1", "G2"]


def test_a_fact_is_derived_once_even_when_it_is_missing():
    calls = []

    @dataclass(frozen=True)
    class Absent:
        name: ClassVar[str] = "absent"

        @classmethod
        def derive(cls, _):
            calls.append(1)
            raise MissingFact("no evidence")

    def check(view):
        view.fact(Absent)
        yield view.fail("never")

    found = report(run(make(check, "a"), make(check, "b")))
    assert [r.kind for r in found.results] == ["open", "open"]
    assert len(calls) == 1


RESULTS = st.builds(
    Result,
    rule=st.just("r"),
    gate=st.just("G0"),
    kind=st.sampled_from(Kind),
    level=st.sampled_from(Level),
    blocks=st.sampled_from([None, *Verdict]),
    blocked_gates=st.sampled_from([(), (), ("G1",)]),
)


@given(st.lists(RESULTS, max_size=6))
def test_passed_means_an_error_level_pass_and_nothing_against_it(results):
    said = judge(results)
    errors = [r for r in results if r.level is Level.ERROR]
    if said is Verdict.PASSED:
        assert any(r.kind is Kind.PASS for r in errors)
        assert not any(r.kind is Kind.FAIL for r in errors)
        assert not any(r.kind is Kind.OPEN and not r.blocked_gates for r in errors)


@given(st.lists(RESULTS, max_size=6), RESULTS)
def test_a_finding_never_betters_a_verdict(results, more):
    order = [
        Verdict.FAILED,
        Verdict.BLOCKED_REPRODUCIBILITY,
        Verdict.BLOCKED_COMPILER,
        Verdict.INCOMPLETE,
        Verdict.PASSED,
    ]
    if more.is_finding:
        assert order.index(judge([*results, more])) <= order.index(judge(results))


@given(st.lists(RESULTS, max_size=6), st.randoms())
def test_the_order_of_results_never_matters(results, random):
    shuffled = list(results)
    random.shuffle(shuffled)
    assert judge(shuffled) is judge(results)


def test_a_port_has_the_worst_verdict_of_what_was_planned():
    gates = [
        SimpleNamespace(gate=PORT, verdict=Verdict.INCOMPLETE),
        SimpleNamespace(gate="G3", verdict=Verdict.BLOCKED_COMPILER),
        SimpleNamespace(gate="G9", verdict=Verdict.FAILED),
    ]
    assert port_verdict(gates, ["G3"]) is Verdict.BLOCKED_COMPILER
    assert port_verdict(gates, []) is Verdict.INCOMPLETE
    assert port_verdict([], ["G0"]) is Verdict.INCOMPLETE
