"""Rules with a date: warnings before it, of their own level from it on, and never part of a technical verdict."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest

from calaudit import audit
from calaudit.checks import Check, View
from calaudit.checks.levels import judged_on
from calaudit.contract import Contract, load_contract
from calaudit.errors import MissingFact
from calaudit.evidence import gather
from calaudit.facts import Facts
from calaudit.model import Kind, Level, Port, Result
from tests.policies.make import policy

BEFORE, DAY = date(2026, 12, 31), date(2027, 1, 1)
PORT = "schema: calaudit-port/v1\nid: some-port\nprofile: example\nstage: development\nclaim: G0\n"
RULE = """\
schema: calaudit-policy/v1
gate: port
rules:
  - id: acme-stage
    level: {level}
    title: The port is a candidate
    why: Others are not ours to judge.
    fix: Make it one.
    require: facts.port.stage == 'candidate'
    message: "'It is ' + facts.port.stage + '.'"
    effective_on: 2027-01-01
"""


@pytest.fixture
def port(tmp_path: Path) -> Path:
    (tmp_path / "port").mkdir()
    (tmp_path / "port" / "port.yaml").write_text(PORT)
    return tmp_path / "port"


def overlay(tmp_path: Path, level: str = "error") -> Contract:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "stage.yaml").write_text(RULE.format(level=level))
    return load_contract(overlays=[tmp_path / "acme"])


def judged(contract: Contract, port: Path, today: date) -> tuple[Result, str, str]:
    done = audit(port, contract=contract, at=datetime.combine(today, time(12), UTC))
    report = next(report for report in done.gates if report.gate == "port")
    (result,) = done.of("port.acme-stage")
    assert done.rule(result).level is result.level
    return result, str(report.verdict), report.technical_digest


def test_a_dated_rule_warns_and_then_counts(port: Path, tmp_path: Path) -> None:
    contract = overlay(tmp_path)
    early, before, first = judged(contract, port, BEFORE)
    late, after, second = judged(contract, port, DAY)
    assert (early.kind, early.level) == (Kind.FAIL, Level.WARNING)
    assert early.message == "It is development. From 2027-01-01 on this is an error."
    assert (late.kind, late.level, late.message) == (Kind.FAIL, Level.ERROR, "It is development.")
    assert (before, after) != (after, before)
    assert after == "FAILED"
    assert first == second, "the technical digest must not know the date"


def test_before_its_date_an_open_result_says_so_too(port: Path, tmp_path: Path) -> None:
    (port / "port.yaml").write_text("no: manifest\n")
    result, _, _ = judged(overlay(tmp_path), port, BEFORE)
    assert (result.kind, result.level) == (Kind.OPEN, Level.WARNING)
    assert result.message.endswith(" From 2027-01-01 on this is an error.")


@pytest.mark.parametrize("level", ["warning", "note"])
def test_a_rule_that_never_decides_keeps_its_level(port: Path, tmp_path: Path, level: str) -> None:
    contract = overlay(tmp_path, level)
    for today in (BEFORE, DAY):
        result, _, _ = judged(contract, port, today)
        assert (str(result.level), result.message) == (level, "It is development.")


def dated(run_: object, today: date) -> Check:
    rule = policy("facts.a.yes", effective_on="2027-01-01")
    (found,) = judged_on(today, [Check(rule.rule, run_)], [rule])  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("today", [BEFORE, DAY, date(2030, 1, 1)])
def test_a_dated_rule_is_never_technical(today: date) -> None:
    assert dated(lambda _: iter(()), today).rule.trust


def test_silence_after_nothing_stays_open(contract: Contract, tmp_path: Path) -> None:
    facts = Facts(gather(tmp_path, specs=contract.gates, schemas=contract.schemas), contract)

    def lost(_: View) -> Iterator[Result]:
        raise MissingFact("no fact")
        yield

    for run_, message in ((lambda _: iter(()), "Nothing was examined"), (lost, "no fact")):
        item = dated(run_, BEFORE)
        (result,) = item.run(View(item.rule, "G0", facts, Port(), {}))
        assert result.kind is Kind.OPEN
        assert result.message.startswith(message)
        assert "2027-01-01" in result.message
    seen = dated(lambda view: iter(view.saw() or ()), BEFORE)
    assert list(seen.run(View(seen.rule, "G0", facts, Port(), {}))) == []


def test_the_report_names_the_overlay(port: Path, tmp_path: Path) -> None:
    report = audit(port, contract=overlay(tmp_path))
    assert "The policies in acme judged as well: 1 rule in CEL, 0 rules in CUE, 0 values tightened." in report.notes
