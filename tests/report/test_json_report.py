import json
import re
from pathlib import Path

import jsonschema
import jsonschema_rs
import orjson
import pytest
from hypothesis import given, settings

from calaudit.model import Report
from calaudit.report import renderer
from calaudit.report.json_report import TAG, document
from tests.report.nasty import reports
from tests.report.samples import SAMPLES

render = renderer("json")
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/report/v1.json").read_text())
FAST = jsonschema_rs.Draft202012Validator(SCHEMA)
REFERENCE = jsonschema.Draft202012Validator(SCHEMA)
SURROGATE = re.compile("[\ud800-\udfff]")


def test_the_schema_is_one_and_names_the_tag() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == TAG


@pytest.mark.parametrize("sample", SAMPLES)
def test_follows_its_schema_by_both_validators(sample: str) -> None:
    value = orjson.loads(render(SAMPLES[sample]()))
    assert not list(FAST.iter_errors(value))
    assert not list(REFERENCE.iter_errors(value))


def test_the_schema_is_closed() -> None:
    value = document(SAMPLES["failed"]())
    for holder in (value, value["port"], value["contract"], value["gates"][0], value["gates"][0]["results"][0]):
        holder["surprise"] = 1
        assert not FAST.is_valid(value)
        del holder["surprise"]
    assert FAST.is_valid(value)


@settings(max_examples=60, deadline=None)
@given(report=reports())
def test_strings_are_exact_whatever_they_hold(report: Report) -> None:
    value = orjson.loads(render(report))
    assert not list(FAST.iter_errors(value))
    said = [r["message"] for g in value["gates"] for r in g["results"]]
    assert said == [SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", r.message) for r in report.results]


def test_says_everything() -> None:
    report = SAMPLES["failed"]()
    value = orjson.loads(render(report))
    found = next(r for g in value["gates"] for r in g["results"] if r["rule"] == "G2.greedy-mismatch")
    assert found["location"] == {"path": "02-onnx/onnx-outputs.jsonl", "line": 18, "pointer": "/steps/3/token"}
    assert (found["kind"], found["level"], found["expected"], found["actual"]) == ("fail", "error", "411", "17")
    assert value["rules"]["common.signoff-missing"]["trust"] is True
    assert value["exit_code"] == 1
    assert len(value["gates"]) == len(report.gates)


def test_a_gate_that_was_not_judged_has_no_digest() -> None:
    value = document(SAMPLES["passed"]())
    assert [g["technical_digest"] for g in value["gates"] if g["verdict"] == "NOT_STARTED"] == [None, None]


def test_blocks_and_unsafe_flags_are_told() -> None:
    value = document(SAMPLES["blocked_compiler"]())
    found = next(r for r in value["gates"][0]["results"] if r["blocks"])
    assert (found["blocks"], found["blocked_gates"]) == ("BLOCKED_COMPILER", ["G3", "G4", "G5"])
    assert document(SAMPLES["crashed"]())["unsafe"] == ["--unsafe-time"]
