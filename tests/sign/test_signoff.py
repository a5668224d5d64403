"""What may be signed off, over one report."""

from dataclasses import replace
from pathlib import Path

import pytest

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.model import Kind, Level, Report, Result, Suppression, Verdict
from calaudit.sign.authority import check_key, established
from calaudit.sign.grounds import Wish
from calaudit.sign.signing import sign_draft
from calaudit.sign.signoff import Draft, prepare
from tests.sign.judged import Judged, judged
from tests.sign.make import NOW


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, contract: Contract) -> Judged:
    return judged(tmp_path_factory.mktemp("judged"), contract)


def draft(found: Judged, wish: Wish, report: Report | None = None) -> Draft:
    return prepare(found.port, report or found.report, found.contract, found.registry, wish, now=NOW)


def with_result(report: Report, gate: str, result: Result, technical: Verdict) -> Report:
    """The report as if one rule had said something else."""
    gates = [
        replace(g, technical=technical, results=(*(r for r in g.results if r.rule != result.rule), result))
        if g.gate == gate
        else g
        for g in report.gates
    ]
    return replace(report, gates=tuple(gates))


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (Wish(gate="G0", role="export"), "is not signed by export, but by model"),
        (Wish(gate="G0", role="release"), "is not signed by release"),
        (Wish(gate="G99", role="model"), "no gate G99"),
        (Wish(gate="G3", role="compiler"), "no files"),
        (Wish(gate="port", role="model"), "signs none of the port's own files"),
        (Wish(gate="G0", role="model", decision="reject"), "needs a reason"),
        (Wish(gate="G0", role="model", decision="reject", reason=" "), "needs a reason"),
        (Wish(gate="G1", role="model"), "has not signed yet"),
    ],
)
def test_what_nobody_may_sign(found: Judged, wish: Wish, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        draft(found, wish)


FAILURE = Result(rule="model-id-mismatch", gate="G0", kind=Kind.FAIL, level=Level.ERROR, message="it differs")
WAIVER = Suppression(waiver="waivers/w.dsse.json", reason="r", ticket="t", until="2027-01-01T00:00:00Z", by=("x",))


@pytest.mark.parametrize(
    ("result", "technical", "sentence"),
    [
        (FAILURE, Verdict.FAILED, "it differs"),
        (replace(FAILURE, kind=Kind.OPEN), Verdict.INCOMPLETE, "it differs"),
        (replace(FAILURE, kind=Kind.PASS), Verdict.INCOMPLETE, "cannot be approved"),
        (replace(FAILURE, kind=Kind.PASS), Verdict.BLOCKED_COMPILER, "cannot be approved"),
    ],
)
def test_a_yes_needs_its_ground(found: Judged, result: Result, technical: Verdict, sentence: str) -> None:
    report = with_result(found.report, "G0", result, technical)
    with pytest.raises(UsageError, match=sentence):
        draft(found, Wish(gate="G0", role="model"), report)
    said = draft(found, Wish(gate="G0", role="model", decision="reject", reason="no"), report).statement
    assert said["predicate"]["technical"]["verdict"] == str(technical)


def test_a_waiver_covers_failures_only(found: Judged) -> None:
    result = replace(FAILURE, kind=Kind.OPEN, suppression=WAIVER)
    report = with_result(found.report, "G0", result, Verdict.INCOMPLETE)
    with pytest.raises(UsageError, match="it differs"):
        draft(found, Wish(gate="G0", role="model"), report)


def test_a_signoff_below_that_does_not_hold_is_no_ground(found: Judged, tmp_path: Path) -> None:
    stale = Result(rule="signoff-stale", gate="G0", kind=Kind.FAIL, level=Level.ERROR, message="it changed")
    report = with_result(found.report, "G0", stale, Verdict.PASSED)
    with pytest.raises(UsageError, match="does not hold"):
        draft(found, Wish(gate="G1", role="model"), report)


def test_the_statement_binds_what_was_judged(found: Judged) -> None:
    made = draft(found, Wish(gate="G0", role="model"))
    gate = next(g for g in found.report.gates if g.gate == "G0")
    predicate = made.statement["predicate"]
    assert predicate == {
        "port": "tiny-dense",
        "profile": "example",
        "stage": "development",
        "gate": "G0",
        "role": "model",
        "decision": "approve",
        "technical": {"verdict": "PASSED", "digest": gate.technical_digest},
        "contract": {"version": found.report.contract_version, "digest": found.report.contract_digest},
        "registry": {"version": 1, "digest": found.registry.digest},
        "depends": [],
        "evidence": [],
        "waivers": [],
        "signed_on": "2026-11-30T12:00:00Z",
    }
    assert made.statement["subject"] == [{"name": a.path, "digest": {"sha256": a.sha256}} for a in gate.artifacts]
    assert (made.kept, made.stale, made.envelope_path) == ((), (), "signoffs/G0.model.dsse.json")
    assert made.bundle_path() == "signoffs/G0.model.1.sigstore.json"


def test_a_duty_is_over_its_own_files(found: Judged) -> None:
    made = draft(found, Wish(gate="port", role="compiler"))
    assert "technical" not in made.statement["predicate"]
    assert {item["name"].partition("/")[0] for item in made.statement["subject"]} == {"vendor"}


@pytest.mark.parametrize(("name", "sentence"), [("export", "speaks for export"), ("root", "nobody's")])
def test_a_key_of_somebody_else_signs_nothing(found: Judged, name: str, sentence: str) -> None:
    signer = found.made.roots[0] if name == "root" else found.made.owners[name][0]
    with pytest.raises(UsageError, match=sentence):
        sign_draft(found.port, draft(found, Wish(gate="G0", role="model")), signer, found.trust, found.registry)
    assert not (found.port / "signoffs").exists()


def test_a_revoked_key_signs_nothing(found: Judged) -> None:
    keyid = found.made.owners["model"][0].public_key.keyid
    registry = replace(found.registry, revoked={keyid: "lost"})
    with pytest.raises(UsageError, match="revoked: lost"):
        check_key(keyid, registry.roles["model"], registry)


def test_without_trust_there_is_nothing_to_ask(found: Judged) -> None:
    with pytest.raises(UsageError, match="No trust root is pinned"):
        established(None, NOW, found.contract.schemas, "tiny-dense")


def test_a_slot_that_is_no_envelope_is_told(found: Judged, tmp_path: Path) -> None:
    (tmp_path / "signoffs").mkdir()
    (tmp_path / "signoffs/G0.model.dsse.json").write_text("{}")
    with pytest.raises(UsageError, match="is no envelope"):
        prepare(tmp_path, found.report, found.contract, found.registry, Wish(gate="G0", role="model"), now=NOW)
    (tmp_path / "signoffs/G0.model.dsse.json").unlink()
    (tmp_path / "signoffs/G0.model.dsse.json").symlink_to("/dev/null")
    with pytest.raises(UsageError, match="cannot be read"):
        prepare(tmp_path, found.report, found.contract, found.registry, Wish(gate="G0", role="model"), now=NOW)
