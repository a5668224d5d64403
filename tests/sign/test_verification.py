"""The verification summary says PASSED for nothing but a pass without reservation."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calaudit.errors import UsageError
from calaudit.model import PORT, Artifact, Kind, Location, Report, Verdict
from calaudit.sign.verification import vsa_statement
from tests.report import samples
from tests.report.samples import SAMPLES

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/vsa/v1.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SIGNED = ("signoffs/G0.model.dsse.json", "attestations/reference.abababab.1.dsse.json", "waivers/w-1.dsse.json")


def with_files(report: Report) -> Report:
    """The report of a port that has files."""
    paths = {PORT: (*SIGNED, "port.yaml")}
    gates = [
        replace(
            gate,
            artifacts=tuple(
                Artifact(path=path, sha256="ab" * 32, size=1) for path in paths.get(gate.gate, (f"{gate.gate}/file",))
            ),
        )
        for gate in report.gates
        if gate.planned or gate.gate == PORT
    ]
    return replace(report, gates=tuple(gates), judged_at="2026-01-01T00:00:00Z")


def predicate(report: Report) -> dict[str, Any]:
    statement = vsa_statement(with_files(report), now=NOW)
    assert not [error.message for error in VALIDATOR.iter_errors(statement)]
    found: dict[str, Any] = statement["predicate"]
    return found


@pytest.mark.parametrize("sample", SAMPLES)
def test_follows_its_schema(sample: str) -> None:
    assert predicate(SAMPLES[sample]())["resourceUri"] == "urn:calaudit:port:tiny-dense"


def test_a_pass() -> None:
    found = predicate(SAMPLES["passed"]())
    assert (found["verificationResult"], found["verifiedLevels"]) == ("PASSED", ["CALAUDIT_G2"])
    assert found["policy"] == {"uri": "urn:calaudit:contract:0.1.0", "digest": {"sha256": "ab" * 32}}
    assert found["timeVerified"] == "2026-11-30T12:00:00Z"
    assert found["calaudit_summary"]["judged_at"] == "2026-01-01T00:00:00Z"


@settings(max_examples=200, deadline=None)
@given(
    verdict=st.sampled_from(list(Verdict)),
    exit_code=st.sampled_from([0, 1, 3, 4]),
    unsafe=st.sampled_from([(), ("--x",)]),
)
def test_anything_else_is_failed(verdict: Verdict, exit_code: int, unsafe: tuple[str, ...]) -> None:
    found = predicate(replace(SAMPLES["passed"](), verdict=verdict, exit_code=exit_code, unsafe=unsafe))
    passed = verdict is Verdict.PASSED and exit_code == 0 and not unsafe
    assert found["verificationResult"] == ("PASSED" if passed else "FAILED")
    assert found["verifiedLevels"] == (["CALAUDIT_G2"] if passed else ["FAILED"])
    assert found["calaudit_summary"]["verdict"] == str(verdict)
    assert found["calaudit_summary"]["unsafe"] == list(unsafe)


def test_what_is_waived_stands_there() -> None:
    found = predicate(SAMPLES["waived"]())["calaudit_summary"]
    (waived,) = found["suppressions"]
    assert (waived["rule"], waived["ticket"]) == ("common.digest-mismatch", "PORT-17")
    assert found["registry"] == {"version": 2, "digest": "cd" * 32, "label": "example-only"}


def test_only_envelopes_that_hold_are_inputs() -> None:
    report = SAMPLES["waived"]()
    assert [item["name"] for item in predicate(report)["inputAttestations"]] == sorted(SIGNED)
    assert predicate(SAMPLES["passed"]())["inputAttestations"] == []  # no root was trusted, so nothing was verified
    stale = samples.result("common.signoff-stale", "G0", Kind.FAIL, "Changed.", location=Location(path=SIGNED[0]))
    broken = replace(report, gates=(report.gates[0], replace(report.gates[1], results=(stale,))))
    assert [item["name"] for item in predicate(broken)["inputAttestations"]] == sorted(SIGNED[1:])


def test_every_file_is_a_subject() -> None:
    statement = vsa_statement(with_files(SAMPLES["waived"]()), now=NOW)
    assert [item["name"] for item in statement["subject"]] == sorted([*SIGNED, "port.yaml", "G0/file"])


def test_a_port_without_a_file_has_no_summary() -> None:
    with pytest.raises(UsageError, match="nothing to summarize"):
        vsa_statement(SAMPLES["failed"](), now=NOW)
