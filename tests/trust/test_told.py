"""What findings about signatures show, where a sentence alone would leave it open."""

from pathlib import Path

import pytest

from calaudit import Report, Result
from calaudit.contract import Contract
from tests.trust.chained import chained
from tests.trust.forgeries import find
from tests.trust.signed_port import SignedPort, signed_copy


def forged(name: str, folder: Path, contract: Contract) -> Report:
    port = signed_copy(find(name).kind, folder / "tiny-dense", contract)
    find(name).forge(port)
    return port.audit()


def only(report: Report, rule: str, gate: str) -> Result:
    (result,) = [r for r in report.of(rule) if r.gate == gate]
    return result


def test_a_signoff_below_that_does_not_hold_has_no_digests_to_compare(tmp_path: Path, contract: Contract) -> None:
    report = forged("two-gates-below-signed-anew", tmp_path, contract)
    found = only(report, "common.signoff-chain", "G2")
    assert (found.expected, found.actual) == (None, None)
    anew = only(report, "common.signoff-chain", "G1")
    assert anew.expected != anew.actual


def test_another_verdict_is_shown_as_verdicts(tmp_path: Path, contract: Contract) -> None:
    found = only(forged("another-verdict", tmp_path, contract), "common.signoff-verdict-mismatch", "G0")
    assert (found.expected, found.actual) == ("FAILED", "PASSED")


EDITS = {
    "a gate that there is not": ('"claim": "G0"', '"claim": "G12"', "/claim"),
    "a member that there is not": ('"executor"', '"rebuild": 2, "executor"', "/steps/fetch/rebuild"),
    "a value that was not filled in": ('"stage": "development"', '"stage": "TBD"', None),
    "a tab": ("{", "\tid: x\n{", None),
    "a member twice": ('"stage"', '"claim": "G0", "stage"', None),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_manifest_that_cannot_be_used_is_one_open_finding_of_the_chain(
    edit: str, tmp_path: Path, contract: Contract
) -> None:
    port: SignedPort = signed_copy("g0", tmp_path / "tiny-dense", contract)
    chained(port)
    path = port.path / "port.yaml"
    old, new, pointer = EDITS[edit]
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    report = port.audit()
    found = [r for r in report.findings if r.rule.startswith("link-") or r.rule == "layout-differs-from-port"]
    assert [(r.rule, str(r.kind)) for r in found] == [("layout-differs-from-port", "open")]
    place = found[0].location
    assert place is not None
    assert place.path == "port.yaml"
    # What was not filled in has a finding of its own for each value, in its place.
    assert (place.line is None) == (edit == "a value that was not filled in")
    assert place.pointer == pointer
