"""What every format says of trust: the root, who signed, what is waived, what weakened the audit."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from calaudit.model import PORT, Artifact, Kind, Location, Report, Verdict
from calaudit.report import renderer
from calaudit.report._trust import missing_signers, trusted
from tests.report import samples
from tests.report.samples import SAMPLES

FORMATS = ["github", "json", "junit", "markdown", "sarif", "text"]
WEAK = "--unsafe-time (judged at 2026-01-01T00:00:00Z, in the past)"


def flat(text: str) -> str:
    return " ".join(text.replace("\\", "").replace("%3A", ":").replace("%2C", ",").split())


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "said",
    [
        "PORT-17",
        "The list is repaired next week.",
        "2027-01-31T00:00:00Z",
        "Release lead (release)",
        "waivers/w-1.dsse",
    ],
)
def test_a_waived_failure_is_told_with_its_ground(name: str, said: str) -> None:
    assert said in flat(renderer(name)(SAMPLES["waived"]()))


@pytest.mark.parametrize("name", FORMATS)
def test_waived_failures_are_counted(name: str) -> None:
    out = flat(renderer(name)(SAMPLES["waived"]()))
    counted = {"json": '"waived": 1', "sarif": '"waived": 1', "junit": 'name="waived" value="1"'}
    assert counted.get(name, "1 failure is waived") in out


@pytest.mark.parametrize("name", FORMATS)
def test_the_verdict_never_stands_without_what_weakened_it(name: str) -> None:
    out = renderer(name)(SAMPLES["waived"]())
    verdicts = {
        "github": f"title=calaudit%3A PASSED (UNSAFE%3A {WEAK.replace(':', '%3A').replace(',', '%2C')})::",
        "json": f'"unsafe": [\n    "{WEAK}"\n  ]',
        "junit": f'name="verdict" value="PASSED (UNSAFE: {WEAK})"',
        "markdown": f"calaudit: PASSED (UNSAFE: {WEAK})",
        "sarif": f'"verdict": "PASSED (UNSAFE: {WEAK})"',
        "text": f"PASSED (UNSAFE: {WEAK})",
    }
    assert verdicts[name] in out


@pytest.mark.parametrize("name", FORMATS)
def test_the_root_and_who_signed_are_told(name: str) -> None:
    out = flat(renderer(name)(SAMPLES["waived"]()))
    assert "Reference team (model)" in out
    if name in ("json", "sarif"):
        assert '"origin": "examples/trust", "label": "example-only"' in out
    else:
        assert "trust examples/trust (example-only), registry 2, root 1; rollback not checked" in out


def test_trust_that_does_not_hold_is_told() -> None:
    report = SAMPLES["waived"]()
    assert report.trust is not None
    broken = replace(report.trust, label=None, registry_version=None, registry_digest=None, rollback_checked=True)
    assert trusted(replace(report, trust=broken)) == "trust examples/trust, root 1, no registry that holds"
    gone = replace(broken, root_version=0)
    assert trusted(replace(report, trust=gone)) == "trust examples/trust, no root that holds"
    assert trusted(SAMPLES["unsigned"]()).startswith("trust none")


def test_sarif_suppresses_the_one_result_and_says_so_of_all() -> None:
    (run,) = json.loads(renderer("sarif")(SAMPLES["waived"]()))["runs"]
    (waived,) = (r for r in run["results"] if r["suppressions"])
    (suppression,) = waived["suppressions"]
    assert (suppression["kind"], suppression["status"]) == ("external", "accepted")
    assert suppression["justification"] == "The list is repaired next week. (PORT-17)"
    assert all("suppressions" in r for r in run["results"])
    (other,) = json.loads(renderer("sarif")(SAMPLES["failed"]()))["runs"]
    assert not any("suppressions" in r for r in other["results"])


def test_junit_shows_a_waived_failure_neither_green_nor_red() -> None:
    root = ET.fromstring(renderer("junit")(SAMPLES["waived"]()).encode())  # noqa: S314 - our own output
    case = root.find(".//testcase[@name='common.digest-mismatch']")
    assert case is not None
    skipped = case.find("skipped")
    assert skipped is not None
    assert skipped.get("message", "").startswith("waived until 2027-01-31T00:00:00Z by Reference team (model), Release")
    assert root.get("failures") == root.get("errors") == "0"


def test_a_waived_failure_is_a_warning_beside_its_file() -> None:
    lines = renderer("github")(SAMPLES["waived"]()).splitlines()
    (line,) = (line for line in lines if "waived on G0" in line)
    assert line.startswith("::warning file=00-source/code.py,title=common.digest-mismatch (waived on G0)::")


def test_every_waived_failure_is_listed() -> None:
    ground = SAMPLES["waived"]().gates[1].suppressed[0].suppression
    found = [
        samples.result(
            "common.symlink", "G0", Kind.FAIL, "A link.", location=Location(path=f"l-{n:03}"), suppression=ground
        )
        for n in range(60)
    ]
    report = samples.report(Verdict.INCOMPLETE, 3, samples.gate("G0", *found, verdict=Verdict.INCOMPLETE))
    for name in FORMATS:
        out = renderer(name)(report)
        assert all(f"l-{n:03}" in out for n in range(60)), name


def test_whose_signature_is_missing() -> None:
    fault = samples.result(
        "common.signoff-stale",
        "G1",
        Kind.FAIL,
        "01-reference/outputs.jsonl changed; what was signed is not what is there.",
        location=Location(path="signoffs/G1.model.dsse.json"),
    )
    gate = replace(
        samples.gate("G1", fault, verdict=Verdict.FAILED),
        owned_by=("Reference team (model)", "Soak team (serving)"),
        signed_by=("Release lead (release)",),
    )
    there = (Artifact(path="signoffs/G1.export.dsse.json", sha256="ab" * 32, size=1),)
    port = replace(samples.gate(PORT, verdict=Verdict.PASSED), artifacts=there)
    report: Report = samples.report(Verdict.FAILED, 1, port, gate)
    assert missing_signers(report, gate, ["model", "export", "serving", "release"]) == (
        "model: signed, but 01-reference/outputs.jsonl changed; export: signed, not verified; "
        "serving: unsigned (to be signed by Soak team)"
    )
