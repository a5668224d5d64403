import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given, settings

from calaudit.model import Kind, Location, Report, Verdict
from calaudit.report import Options
from calaudit.report._escape import visible
from calaudit.report.sarif import document, render
from tests.report import samples
from tests.report.nasty import reports
from tests.report.samples import SAMPLES

SCHEMA = json.loads((Path(__file__).parents[1] / "fixtures/sarif/sarif-schema-2.1.0.json").read_text())
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)


def results(report: Report, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(report, Options(**options))["runs"][0]["results"]
    return found


def one(**more: Any) -> dict[str, Any]:
    made = samples.result("common.symlink", "G1", more.pop("kind", Kind.FAIL), more.pop("message", "Said."), **more)
    (found,) = results(samples.report(Verdict.FAILED, 1, samples.gate("G1", made, verdict=Verdict.FAILED)))
    return found


@pytest.mark.parametrize("root", ["", "ports/a b"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_follows_the_standard_schema(sample: str, root: str) -> None:
    assert not list(VALIDATOR.iter_errors(json.loads(render(SAMPLES[sample](), Options(root=root)))))


@settings(max_examples=30, deadline=None)
@given(report=reports())
def test_follows_the_schema_whatever_the_port_holds(report: Report) -> None:
    value = json.loads(render(report))
    assert not list(VALIDATOR.iter_errors(value))
    for found in value["runs"][0]["results"]:
        uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", uri)


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_is_not_fail_has_no_level(sample: str) -> None:
    report = SAMPLES[sample]()
    found = results(report)
    assert [f["kind"] for f in found] == [str(r.kind) for r in report.results]
    for item in found:
        assert item["kind"] == "fail" or item["level"] == "none"
        assert item["kind"] != "fail" or item["level"] in ("error", "warning", "note")


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_result_names_its_rule(sample: str) -> None:
    run = document(SAMPLES[sample]())["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for found in run["results"]:
        assert rules[found["ruleIndex"]]["id"] == found["ruleId"]
    assert all("Fix: " in rule["help"]["text"] for rule in rules)


def test_uris_are_relative_and_encoded() -> None:
    path = "a:b/参 考%.json"
    place = one(location=Location(path=path))["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uriBaseId"] == "PORT"
    assert unquote(place["uri"]) == path
    assert ":" not in place["uri"]
    assert " " not in place["uri"]


def test_a_region_only_where_the_line_is_known() -> None:
    known = one(location=Location(path="a.json", line=7, pointer="/x"))["locations"][0]
    assert known["physicalLocation"]["region"] == {"startLine": 7}
    assert known["logicalLocations"] == [{"fullyQualifiedName": "#/x", "kind": "value"}]
    assert "region" not in one(location=Location(path="a.json"))["locations"][0]["physicalLocation"]


def test_a_result_without_a_place_is_about_the_claim() -> None:
    assert one()["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "port.yaml"


def test_base_in_a_checkout() -> None:
    bases = document(SAMPLES["passed"](), Options(root="ports/a b"))["runs"][0]["originalUriBaseIds"]
    assert bases["PORT"]["uri"] == "ports/a%20b/"
    assert bases["PORT"]["uriBaseId"] in bases
    assert "uri" not in document(SAMPLES["passed"]())["runs"][0]["originalUriBaseIds"]["PORT"]


def test_fingerprints_ignore_the_line_and_tell_findings_apart() -> None:
    at = {"path": "a.json", "pointer": "/x"}
    first, moved = (one(location=Location(**at, line=n))["partialFingerprints"] for n in (1, 99))
    assert first == moved
    assert first != one(location=Location(path="a.json", pointer="/y"))["partialFingerprints"]
    for sample in SAMPLES.values():
        prints = [json.dumps(f["partialFingerprints"]) for f in results(sample())]
        assert len(prints) == len(set(prints))


def test_messages_have_no_placeholders_and_no_links() -> None:
    assert one(message="{0} is {x}")["message"]["text"] == "{{0}} is {{x}}"
    assert one(message="[a](http://b)")["message"]["text"] == "\\[a](http://b)"
    assert one(message="a[0]")["message"]["text"] == "a[0]"
    assert one(message="\x1b[0m")["message"]["text"] == visible("\x1b[0m")


def test_expected_and_actual_are_told() -> None:
    found = one(expected="1", actual="2")
    assert found["message"]["text"] == "Said. Expected: 1. Actual: 2."
    assert (found["properties"]["expected"], found["properties"]["actual"]) == ("1", "2")


def test_the_invocation_tells_a_crash() -> None:
    def invocation(sample: str) -> dict[str, Any]:
        found: dict[str, Any] = document(SAMPLES[sample]())["runs"][0]["invocations"][0]
        return found

    assert invocation("failed")["executionSuccessful"] is True
    crashed = invocation("crashed")
    assert crashed["executionSuccessful"] is False
    assert crashed["exitCode"] == 4
    assert [n["level"] for n in crashed["toolExecutionNotifications"]] == ["error", "warning"]
