from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from calaudit.model import Kind, Report, Verdict
from calaudit.report import renderer
from tests.report import samples
from tests.report.nasty import reports
from tests.report.samples import SAMPLES

render = renderer("junit")
GREEN = {"system-out", "system-err"}


def parse(report: Report) -> ET.Element:
    return ET.fromstring(render(report).encode())  # noqa: S314 - our own output


def is_green(case: ET.Element) -> bool:
    return {child.tag for child in case} <= GREEN


def case_of(root: ET.Element, gate: str, name: str) -> ET.Element:
    found = root.find(f"testsuite/testcase[@classname='calaudit.{gate}'][@name='{name}']")
    assert found is not None
    return found


@pytest.mark.parametrize("sample", SAMPLES)
def test_shape(sample: str) -> None:
    report = SAMPLES[sample]()
    root = parse(report)
    assert root.tag == "testsuites"
    assert [s.get("name", "").split()[0] for s in root] == [g.gate for g in report.gates]
    for holder in (root, *root):
        cases = holder.findall(".//testcase")
        assert int(holder.get("tests", "")) == len(cases) > 0
        for name, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
            assert int(holder.get(name, "")) == sum(case.find(tag) is not None for case in cases)
    for case in root.iter("testcase"):
        assert case.get("classname")
        assert case.get("name")
        assert sum(child.tag in ("failure", "error", "skipped") for child in case) <= 1


@pytest.mark.parametrize("sample", SAMPLES)
def test_only_what_passed_is_green(sample: str) -> None:
    report = SAMPLES[sample]()
    root = parse(report)
    for gate in report.gates:
        for rule in {r.rule for r in gate.results}:
            kinds = {r.kind for r in gate.results if r.rule == rule}
            key = report.rule(next(r for r in gate.results if r.rule == rule)).key
            assert is_green(case_of(root, gate.gate, key)) == (kinds == {Kind.PASS})


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_gate_looks_no_better_than_its_verdict(sample: str) -> None:
    report = SAMPLES[sample]()
    for gate, suite in zip(report.gates, parse(report), strict=True):
        red = suite.find("testcase/failure") is not None or suite.find("testcase/error") is not None
        if not gate.planned:  # not claimed: it counts for no verdict, and must not make a passed port red
            assert not red
            assert suite.find("testcase/skipped") is not None
        elif gate.verdict is not Verdict.PASSED:
            assert red


def test_findings() -> None:
    root = parse(SAMPLES["failed"]())
    failure = case_of(root, "G2", "G2.greedy-mismatch").find("failure")
    assert failure is not None
    assert failure.get("type") == "calaudit.fail"
    for part in ("at 02-onnx/onnx-outputs.jsonl:18#/steps/3/token", "expected 411", "actual   17", "Why: ", "Fix: "):
        assert part in (failure.text or "")
    many = case_of(root, "G1", "common.symlink").find("failure")
    assert many is not None
    assert many.get("message") == "A symbolic link is not a file of the port. (and 2 more findings)"
    assert case_of(root, "G2", "G2.onnx-invalid").find("error") is not None


def test_a_warning_is_skipped_and_told() -> None:
    case = case_of(parse(SAMPLES["passed"]()), "G1", "common.schema-unknown")
    skipped = case.find("skipped")
    assert skipped is not None
    assert "does not decide" in skipped.get("message", "")
    assert "Fix: Add the schema member." in (case.findtext("system-out") or "")


def test_what_blocks_later_gates_is_skipped_and_told() -> None:
    case = case_of(parse(SAMPLES["blocked_compiler"]()), "port", "port.kickoff-incomplete")
    skipped = case.find("skipped")
    assert skipped is not None
    assert skipped.get("message", "").startswith("blocks G3, G4, G5, does not decide: The vendor")


def test_not_applicable_says_why() -> None:
    skipped = case_of(parse(SAMPLES["unsigned"]()), "G0", "common.digest-mismatch").find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "not applicable: There is no list of digests here."


def test_a_rule_that_fails_and_is_open_is_one_failure_with_both() -> None:
    found = [
        samples.result("common.symlink", "G0", kind, f"It is {kind}.", actual="x") for kind in (Kind.FAIL, Kind.OPEN)
    ]
    root = parse(samples.report(Verdict.FAILED, 1, samples.gate("G0", *found, verdict=Verdict.FAILED)))
    failure = case_of(root, "G0", "common.symlink").find("failure")
    assert failure is not None
    assert "It is fail." in (failure.text or "")
    assert "It is open." in (failure.text or "")


@settings(max_examples=60, deadline=None)
@given(report=reports())
def test_well_formed_whatever_the_port_holds(report: Report) -> None:
    parse(report)
