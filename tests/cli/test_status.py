"""``calaudit status``, over reports made by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.cli import cli
from calaudit.model import Kind, Level, Report, Verdict
from calaudit.report import Options
from calaudit.report._gate_table import Row, render, rows
from calaudit.report._layout import cells
from tests.report import samples
from tests.report.samples import SAMPLES

Run = Callable[..., Result]
OWNERS = {"G4": ("quant", "model")}
DEPENDS = {"G1": ("G0",), "G2": ("G1",)}


def table(report: Report) -> dict[str, Row]:
    return {row.gate: row for row in rows(report, owners=OWNERS, depends=DEPENDS)}


def shown(report: Report, *, colour: bool = False) -> str:
    return render(report, rows(report, owners=OWNERS, depends=DEPENDS), Options(colour=colour))


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("sample", SAMPLES)
def test_eighty_columns_and_every_gate(sample: str) -> None:
    report = SAMPLES[sample]()
    lines = shown(report).splitlines()
    assert all(cells(line) <= 80 for line in lines)
    firsts = {line.split()[0] for line in lines if line.strip()}
    assert {g.gate for g in report.gates if g.gate != "port"} <= firsts
    assert "\x1b[" in shown(report, colour=True)


def test_what_is_missing_is_short() -> None:
    found = table(SAMPLES["failed"]())
    assert found["G0"].missing == "Technically PASSED; signatures."
    assert found["G1"].missing == "Fails: symlink, digest-mismatch. Signatures. 1 warning."
    assert found["G2"].missing == "Fails: greedy-mismatch. Open: onnx-invalid, op-inventory-wrong. Signatures."
    assert found["G3"].missing == "Not claimed."
    assert table(SAMPLES["passed"]())["G0"].missing == ""


def test_many_rules_are_counted() -> None:
    keys = (
        "G2.greedy-mismatch",
        "G2.onnx-invalid",
        "G2.op-inventory-wrong",
        "common.symlink",
        "common.digest-mismatch",
    )
    found = [samples.result(key, "G2", Kind.FAIL, "Wrong.") for key in keys]
    report = samples.report(Verdict.FAILED, 1, samples.gate("G2", *found, verdict=Verdict.FAILED))
    assert table(report)["G2"].missing == "Fails: symlink, digest-mismatch, greedy-mismatch and 2 more."


def test_where_to_go_back_to() -> None:
    found = table(SAMPLES["failed"]())
    assert found["G2"].back_to == "what made G2"
    assert found["G1"].back_to is None  # a link or another file is put right where it is
    assert found["G0"].back_to is None
    assert table(SAMPLES["blocked_reproducibility"]())["G1"].back_to == "what made G1"


def test_gates_below_a_gate_that_has_not_passed_say_so() -> None:
    report = SAMPLES["failed"]()
    assert table(report)["G2"].waits_for == ("G1",)
    assert table(report)["G1"].waits_for == ()
    assert "Builds on G1, not passed." in flat(shown(report))


def test_what_blocks_later_gates_is_not_open() -> None:
    row = table(SAMPLES["blocked_compiler"]())["port"]
    assert row.verdict is Verdict.PASSED
    assert row.missing == "Blocks G3, G4, G5: kickoff-incomplete."


def test_a_warning_that_is_open_is_not_judged() -> None:
    found = samples.result("common.schema-unknown", "G0", Kind.OPEN, "No document.")
    report = samples.report(Verdict.INCOMPLETE, 3, samples.gate("G0", found, verdict=Verdict.INCOMPLETE))
    assert table(report)["G0"].missing == "1 warning not judged."


def test_stale() -> None:
    rule = samples.rule("common.chain-broken")
    broken = samples.result("common.symlink", "G2", Kind.FAIL, "Made from another file.")
    from dataclasses import replace

    made = samples.report(
        Verdict.FAILED, 1, samples.gate("G2", replace(broken, rule="chain-broken"), verdict=Verdict.FAILED)
    )
    report = replace(made, rules={**made.rules, rule.key: rule})
    assert table(report)["G2"].stale
    assert not table(SAMPLES["failed"]())["G2"].stale
    assert "Stale:" in shown(report)


def test_blocked_gates_are_explained() -> None:
    report = SAMPLES["blocked_compiler"]()
    assert table(report)["G4"].blocked_by == (
        "The vendor has not delivered compiler-image. (vendor/kickoff.json:7#/items/0/digest)",
    )
    out = flat(shown(report))
    assert "G3, G4, G5: blocked, since the compiler vendor has to deliver" in out
    assert out.count("has not delivered compiler-image") == 1
    assert "The second run gives other logits." in flat(shown(SAMPLES["blocked_reproducibility"]()))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def invoke(*args: str, sample: str = "failed") -> Result:
        monkeypatch.setattr("calaudit.cli._shared.audit", lambda *_, **__: SAMPLES[sample]())
        return CliRunner().invoke(cli, ["status", str(tmp_path), *args])

    return invoke


def test_command(run: Run) -> None:
    done = run()
    assert done.exit_code == 1
    assert "What is missing" in done.stdout
    assert "quant" not in done.stdout  # the sample has no G4
    assert run(sample="unsigned").exit_code == 3


def test_json(run: Run) -> None:
    value = json.loads(run("--json").stdout)
    assert (value["verdict"], value["exit_code"], value["port"]["id"]) == ("FAILED", 1, "tiny-dense")
    found = {gate["gate"]: gate for gate in value["gates"]}
    assert found["G2"]["owners"] == ["export"]
    assert found["G2"]["waits_for"] == ["G1"]
    assert found["G1"]["stale"] is False
    assert set(found["G1"]) == set(Row.__dataclass_fields__)


def test_who_signed_and_what_ends_soon_is_told() -> None:
    report = SAMPLES["waived"]()
    soon = replace(
        samples.result("common.symlink", "port", Kind.FAIL, "The registry ends on 2026-12-10, in 10 days."),
        rule="expires-soon",
        level=Level.WARNING,
    )
    rules = {**report.rules, "port.expires-soon": samples.rule("port.expires-soon", level=Level.WARNING, trust=True)}
    port = replace(report.gates[0], results=(soon, *report.gates[0].results))
    out = flat(shown(replace(report, gates=(port, *report.gates[1:]), rules=rules)))
    assert "trust examples/trust (example-only), registry 2, root 1; rollback not checked" in out
    assert "G0 signed by Reference team (model)" in out
    assert "expires-soon The registry ends on 2026-12-10, in 10 days." in out
    assert "PASSED (UNSAFE: --unsafe-time (judged at 2026-01-01T00:00:00Z, in the past))" in out


def test_a_gate_that_nobody_signed_says_so() -> None:
    out = flat(shown(SAMPLES["unsigned"]()))
    assert "trust none" in out
    assert "G0 model: unsigned" in out
