"""How far a waiver reaches."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from calaudit.model import Kind, Level, Location, Result, Suppression
from calaudit.trust.waiver import Waiver

RESULT = Result(
    rule="claim-not-reproduced",
    gate="G1",
    kind=Kind.FAIL,
    level=Level.ERROR,
    location=Location(path="01-reference/reference-report.json", pointer="/quality", line=7),
)
WAIVER = Waiver(
    path="waivers/w-1.dsse.json",
    id="w-1",
    gate="G1",
    rule="claim-not-reproduced",
    artifact="01-reference/reference-report.json",
    reason="x",
    ticket="x",
    until=datetime(2027, 1, 31, tzinfo=UTC),
    signers=(),
)


def test_it_covers_the_failure_wherever_in_the_artifact() -> None:
    assert WAIVER.reaches(RESULT)
    assert WAIVER.reaches(replace(RESULT, location=Location(path=WAIVER.artifact)))


@pytest.mark.parametrize(
    "other",
    [
        replace(RESULT, gate="G2"),  # the same rule of another gate
        replace(RESULT, rule="reference-below-bar"),
        replace(RESULT, kind=Kind.OPEN),
        replace(RESULT, kind=Kind.NOT_APPLICABLE),
        replace(RESULT, location=None),
        replace(RESULT, location=Location(path="01-reference/run-2/reference-report.json")),
        replace(RESULT, location=Location(path="01-reference/reference-report.json/x")),
    ],
)
def test_it_covers_nothing_else(other: Result) -> None:
    assert not WAIVER.reaches(other)


def test_a_suppressed_failure_stays_a_finding() -> None:
    covered = replace(RESULT, suppression=Suppression(waiver=WAIVER.path, reason="x", ticket="x", until="x", by=()))
    assert covered.is_finding
