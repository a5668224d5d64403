"""``calaudit receive``: what came is shown, held against everything, and lands whole or not at all."""

import io
import tarfile

import pytest

from calaudit.api import audit
from calaudit.contract import Contract
from calaudit.pins import load_directory
from calaudit.trust.steps import LAYOUT
from tests.cli.trading import COMMAND, Sides, made, sides
from tests.execute.vendor.trade import MATRIX, STEPS

__all__ = ["made", "sides"]


@pytest.fixture
def returned(sides: Sides) -> Sides:
    sides.unpacked()
    sides.attest()
    sides.packed()
    return sides


def test_from_the_kit_to_a_port_that_verifies(returned: Sides) -> None:
    before = returned.picture()
    told = returned.receive("--dry-run").output
    assert returned.picture() == before
    assert "Nothing was received (--dry-run)." in told
    assert f"  {MATRIX} (product, " in told
    assert told.count(", by Compiler-Functionary crew AA (compiler-functionary)") == 2
    told = returned.receive("--yes").output
    assert "Received: 3 file(s)." in told
    assert "gate  before" in told
    assert "Fewer findings: " in told
    assert "fail port kickoff-item-unproven vendor/kickoff.json" in told.partition("Fewer findings")[2]
    assert f"calaudit signoff port {returned.port} --role compiler" in told
    assert (returned.port / MATRIX).read_bytes() == returned.matrix
    assert "Nothing is new." in returned.receive("--yes").output


def test_verification_counts_what_the_vendor_signed(sides: Sides, contract: Contract) -> None:
    """With a layout, each step that nobody attests is named; the vendor's is no more once it was received."""
    trust = str(sides.made.path)
    owners = (option for n in (1, 2) for option in ("--key", sides.made.key(f"release-{n}")))
    sides("layout", sides.port, *owners, "--trust", trust, "--yes")
    sides.unpacked()
    assert (sides.vendor / LAYOUT).read_bytes() == (sides.port / LAYOUT).read_bytes()
    sides.attest("--trust", trust, *COMMAND)
    (sides.vendor / LAYOUT).unlink()
    sides.packed()

    def unattested() -> set[str]:
        report = audit(sides.port, contract=contract, trust=load_directory(sides.made.path))
        rules = {r.rule for r in report.findings if r.rule.startswith(("link", "attestation", "layout", "envelope"))}
        assert rules == {"link-missing"}
        return {str(r.location) for r in report.findings if r.rule == "link-missing"}

    every = {f"port.yaml:1#/steps/{step}" for step in STEPS}
    assert unattested() == every
    told = sides.receive("--yes").output
    assert "link-missing port.yaml:1#/steps/matrix" in told.partition("Fewer findings")[2]
    assert unattested() == every - {"port.yaml:1#/steps/matrix"}


def test_without_trust_nothing_is_received(returned: Sides) -> None:
    before = returned.picture()
    told = returned.receive("--yes", trust=False, code=2).output
    assert "--unsafe-unverified" in told
    assert returned.picture() == before
    told = returned.receive("--yes", "--unsafe-unverified", trust=False).output
    assert told.startswith(
        "UNVERIFIED (--unsafe-unverified): no signature was checked, and anybody can have sent this."
    )
    assert "Received: 3 file(s)." in told


def test_contradictions(returned: Sides) -> None:
    assert "contradict" in returned.receive("--unsafe-unverified", code=2).output


def test_a_key_that_nobody_knows(sides: Sides) -> None:
    sides.unpacked()
    sides.attest(key="root-1")
    sides.packed()
    before = sides.picture()
    told = sides.receive("--yes", code=2).output
    assert "Nothing was received." in told
    assert "wrong-functionary" in told or "attestation-wrong-role" in told
    assert sides.picture() == before


def test_replacing(returned: Sides) -> None:
    (returned.port / MATRIX).write_bytes(b"old\n")
    before = returned.picture()
    told = returned.receive("--yes", code=2).output
    assert f"would go: {MATRIX} (replaced; it has {before[MATRIX]})" in told
    assert returned.picture() == before
    told = returned.receive("--yes", "--replace").output
    assert f"{MATRIX}: {before[MATRIX]} becomes " in told


def test_nobody_is_asked(returned: Sides) -> None:
    before = returned.picture()
    assert "needs a confirmation" in returned.receive(code=2).output
    assert returned.picture() == before


def test_too_much(returned: Sides) -> None:
    assert "--max-bytes allows more" in returned.receive("--yes", "--max-bytes", "1000", code=2).output


def test_escapes_in_names_do_not_reach_the_terminal(sides: Sides) -> None:
    with tarfile.open(sides.root / "return.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("vendor/\x1b[2Jx"), io.BytesIO())
    assert "\x1b" not in sides.receive("--yes", code=2).output


def test_documents_that_nobody_signed_are_told(sides: Sides) -> None:
    with tarfile.open(sides.root / "return.tar", "w") as archive:
        member = tarfile.TarInfo("vendor/kv-contract.md")
        member.size = 6
        archive.addfile(member, io.BytesIO(b"# KV\n\n"))
    told = sides.receive("--dry-run").output
    assert "Signed by nobody who sent it: 1 file(s)\n  vendor/kv-contract.md" in told


def test_the_other_way_round(returned: Sides) -> None:
    """A kit is not what a vendor returns."""
    (returned.root / "kit.tar").replace(returned.root / "return.tar")
    assert "README.md is not received" in returned.receive("--yes", code=2).output
