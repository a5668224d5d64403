"""Causes come first; what follows from a change is told once, behind them, and in full where it is asked for."""

import json

import pytest

from calaudit.model import Kind, Location, Port, Report, Result, Verdict
from calaudit.report import Options, renderer
from calaudit.report._follows import HEADING
from calaudit.report._sentences import meaning, next_step, unsigned
from tests.report import samples
from tests.report.samples import SAMPLES

PEOPLE = ["github", "markdown", "text"]
STALE = Location(path="attestations/compare.5ecd31f8.1.dsse.json")


def flat(text: str) -> str:
    return " ".join(text.split())


def judged(*found: Result, verdict: Verdict = Verdict.FAILED, **more: object) -> Report:
    gates = [
        samples.gate(name, samples.result("common.symlink", name), *(r for r in found if r.gate == name),
                     verdict=verdict, technical=Verdict.PASSED)
        for name in ("port", "G0", "G1", "G2")
    ]  # fmt: skip
    exit_code = {Verdict.FAILED: 1, Verdict.PASSED: 0}.get(verdict, 3)
    return samples.report(verdict, exit_code, *gates, **{"trust": SAMPLES["waived"]().trust} | more)


@pytest.mark.parametrize("name", PEOPLE)
def test_the_cause_comes_before_what_follows(name: str) -> None:
    out = renderer(name)(SAMPLES["changed"]())
    body = out[out.index("Intake" if name != "github" else "\n") :]
    cause = "Apache 2.0 is not on the SPDX list."
    assert body.index(cause) < body.index("changed since the run.")
    assert body.index(cause) < body.index("changed; what was signed")


@pytest.mark.parametrize("name", PEOPLE)
def test_what_follows_is_one_matter(name: str) -> None:
    out = flat(renderer(name)(SAMPLES["changed"]()).replace("<code>", "").replace("</code>", "").replace("%2C", ","))
    assert out.count("changed since the run.") == 1
    assert "port.attestation-stale (2), port.link-stale (2), common.signoff-stale (1), common.signoff-chain (1)" in out
    assert "common.signoff-outdated (2)" in out
    assert "Mend what is told above first. If it still differs then, run export, reference again (" in out
    assert "build export again (" in out


@pytest.mark.parametrize("name", ["markdown", "text"])
def test_verbose_tells_all_of_it(name: str) -> None:
    report = SAMPLES["changed"]()
    short, whole = (renderer(name)(report, Options(verbose=verbose)) for verbose in (False, True))
    paths = {str(r.location) for r in report.findings}
    assert not all(path in short for path in paths)
    assert all(path in whole for path in paths)
    assert whole.index("license-unknown") < whole.index(HEADING, whole.index("license-unknown"))


def test_json_has_all_of_it() -> None:
    report = SAMPLES["changed"]()
    results = [r for gate in json.loads(renderer("json")(report))["gates"] for r in gate["results"]]
    assert len([r for r in results if r["kind"] in ("fail", "open")]) == len(report.findings)


def test_a_gate_says_that_more_is_told_below() -> None:
    out = flat(renderer("text")(SAMPLES["changed"]()))
    assert "signed before it changed (see below): attestation-stale, link-stale" in out
    assert "signed before it changed (see below): signoff-chain" in out


def test_meaning_counts_causes_apart() -> None:
    said = meaning(SAMPLES["changed"]()).replace("\u00a0", " ")
    assert said.startswith(
        "1 rule fails: G0 1. 4 more fail since something changed after it was run or signed: port 2, G0 1, G1 1."
    )


def test_next_names_the_cause_with_its_place_and_message() -> None:
    assert next_step(SAMPLES["changed"]()) == (
        "Begin with G0.license-unknown: The licence is unknown. Apache 2.0 is not on the SPDX list. "
        "(00-source/source-manifest.json:6#/license) Give SPDX expressions. "
        "If that is not enough, G0 goes back to: what made G0."
    )


def test_what_only_follows_is_next_where_nothing_else_is_wrong() -> None:
    found = samples.result(
        "port.attestation-stale", "port", Kind.FAIL, "port.yaml changed since the run.", location=STALE
    )
    assert next_step(judged(found)) == (
        f"Begin with port.attestation-stale: port.yaml changed since the run. ({STALE}) Restore what changed by "
        "mistake (`git diff`). If the change was meant, run compare again (`calaudit run`) and have the gates that "
        "rest on it signed again (`calaudit signoff`)."
    )


def test_trust_that_is_broken_is_no_consequence_and_comes_before_them() -> None:
    broken = samples.result(
        "port.envelope-malformed", "port", Kind.FAIL, "It has no payload.", location=Location(path="signoffs/G1.x")
    )
    chain = samples.result("common.signoff-chain", "G1", Kind.FAIL, "It does not hold.", location=STALE)
    said = next_step(judged(chain, broken))
    assert said.startswith("Begin with port.envelope-malformed: It has no payload. (signoffs/G1.x) Write it with")
    wrong = samples.result("G2.greedy-mismatch", "G2", Kind.FAIL, "Another token.")
    assert next_step(judged(chain, broken, wrong)).startswith("Begin with G2.greedy-mismatch: Another token.")


def test_a_file_that_is_missing_is_a_cause_where_it_was_signed() -> None:
    gone = Location(path="01-reference/tokens.jsonl")
    stale = samples.result(
        "port.attestation-stale", "port", Kind.FAIL, f"{gone} is gone since the run.", location=STALE
    )
    missing = samples.result("common.artifact-missing", "G1", Kind.OPEN, f"{gone} is missing.", location=gone)
    assert next_step(judged(stale, missing)).startswith("Begin with common.artifact-missing on G1:")
    other = samples.result(
        "common.artifact-missing", "G2", Kind.OPEN, "x is missing.", location=Location(path="02-onnx/x")
    )
    assert next_step(judged(stale, other)).startswith("Begin with port.attestation-stale:")


def test_a_port_without_a_name_is_no_reason_to_remove_what_was_signed() -> None:
    found = samples.result("port.attestation-replayed", "port", Kind.FAIL, "It is of the port tiny.", location=STALE)
    named = renderer("text")(judged(found))
    assert "fix: Remove it." in named
    nameless = renderer("text")(judged(found, port=Port()))
    assert "fix: Remove it." not in nameless
    assert "port.attestation-replayed (1)" in nameless


def test_only_signatures_are_called_so() -> None:
    build = samples.result(
        "common.rebuilds-incomplete", "G2", Kind.OPEN, "1 run is attested of 2.", location=Location(path="port.yaml")
    )
    sign = samples.result("common.signoff-missing", "G2", Kind.OPEN, "Nobody signed.")
    for found, said in (
        ((build,), "attested runs"),
        ((sign,), "signatures"),
        ((build, sign), "attested runs and signatures"),
    ):
        report = judged(*found, verdict=Verdict.INCOMPLETE)
        assert f"passes; what is left are {said}. Begin with" in next_step(report)
        assert (unsigned(report) or "").startswith(f"What could not be verified waits for {said}.")
    # A run comes before the signature that covers what it left.
    assert "Begin with common.rebuilds-incomplete: 1 run is attested of 2. (port.yaml) Build" in next_step(report)


def test_a_higher_claim_changes_port_yaml() -> None:
    said = next_step(SAMPLES["passed"]())
    assert "raise `claim` in port.yaml. That changes port.yaml, so a step" in said
    assert "is run again, and its gate signed again." in said
