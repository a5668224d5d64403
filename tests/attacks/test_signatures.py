"""Every forgery of what is signed is seen by the rule that is there for it, and never passes."""

from pathlib import Path

import pytest

from calaudit import Report
from calaudit.contract import Contract
from calaudit.model import EVERY_GATE, Verdict
from tests import guard
from tests.trust.forgeries import Forgery, forgeries
from tests.trust.signed_port import signed_copy


def said(report: Report, rule: str) -> list[str]:
    """What a rule says; common rules carry the gate: ``common.symlink@G1``."""
    key, _, gate = rule.partition("@")
    results = report.of(key)
    assert results, f"{rule} was not planned"
    assert bool(gate) == (report.rule(results[0]).gate == EVERY_GATE), f"{rule} has a gate too many or none"
    return [f"{result.kind}: {result.message}" for result in results if gate in ("", result.gate)]


@pytest.mark.parametrize("forgery", forgeries().values(), ids=str)
def test_forgery(forgery: Forgery, tmp_path: Path, contract: Contract) -> None:
    port = signed_copy(forgery.kind, tmp_path / "tiny-dense", contract)
    forgery.forge(port)
    with guard.inert():
        report = port.audit()
    heard = said(report, forgery.rule)
    assert any(forgery.says in line for line in heard), f"expected {forgery.says!r}, got {heard}"
    assert report.exit_code == forgery.exit_code, report.notes
    assert (report.verdict is Verdict.PASSED) == (forgery.exit_code == 0)


def test_there_are_enough_of_them() -> None:
    assert len([forgery for forgery in forgeries().values() if forgery.exit_code != 0]) >= 40
