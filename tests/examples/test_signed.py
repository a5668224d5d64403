"""The committed example is signed, and its signatures do their work: with `--trust examples/trust`, and pinned."""

import base64
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from securesystemslib.dsse import Envelope

from calaudit import audit
from calaudit.cli import cli
from calaudit.contract import Contract
from calaudit.harness.documents import sha256_file
from calaudit.model import Kind, Level, Verdict
from tests.casebook import PORT, SIGNED
from tests.sign.make import key_file

TRUST = PORT.parent.parent / "trust"
EXPIRED = Path(__file__).parents[1] / "fixtures" / "trust-expired"
AGAIN = (
    "The example's signatures are not of the files that are there: run `make sign-example` (and commit what it writes)."
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))


def run(*args: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(cli, [str(arg) for arg in args])
    return done.exit_code, done.output


def statements() -> Iterator[tuple[Path, dict[str, Any]]]:
    for folder in SIGNED:
        for path in sorted((PORT / folder).glob("*")):
            yield path, json.loads(base64.b64decode(json.loads(path.read_bytes())["payload"]))


def named(items: list[dict[str, Any]]) -> dict[str, str]:
    return {item["name"]: item["digest"]["sha256"] for item in items}


def test_what_is_signed_is_what_is_there() -> None:
    files = {p.relative_to(PORT).as_posix(): sha256_file(p) for p in PORT.rglob("*") if p.is_file()}
    found = dict(statements())
    assert len(found) >= 7, AGAIN
    for path, statement in found.items():
        predicate = statement.get("predicate", {})
        signed = named(statement.get("subject", []))  # a statement; a link has digests by name; a layout none
        signed |= named(predicate.get("evidence", []))
        signed |= named(predicate.get("buildDefinition", {}).get("resolvedDependencies", []))
        for member in ("materials", "products"):
            signed |= {name: digest["sha256"] for name, digest in statement.get(member, {}).items()}
        changed = [name for name, digest in signed.items() if files.get(name) != digest]
        if changed:
            pytest.fail(f"{path.name} signs other bytes of {', '.join(changed)}. {AGAIN}", pytrace=False)


def test_the_example_passes_with_its_trust() -> None:
    code, out = run("verify", PORT, "--trust", TRUST)
    assert code == 0, f"{out}\n{AGAIN}"
    assert "(example-only), registry 1, root 1; rollback not checked" in " ".join(out.split())
    assert "signed by Example export team (export)" in out


def test_the_example_passes_once_its_root_is_pinned() -> None:
    assert run("verify", PORT, "--quiet")[0] == 3
    code, out = run("trust", "pin", TRUST, "--yes")
    assert code == 0, out
    code, out = run("verify", PORT)
    assert code == 0, f"{out}\n{AGAIN}"
    assert "rollback not checked" not in out


def test_the_status_names_who_signed() -> None:
    code, out = run("status", PORT, "--trust", TRUST, "--json")
    rows = {row["gate"]: row for row in json.loads(out)["gates"]}
    assert code == 0
    assert rows["G1"]["signed_by"] == rows["G1"]["owned_by"] == ["Example reference team (model)"]
    assert (rows["G1"]["unsigned"], rows["port"]["unsigned"]) == ("", "")
    assert rows["G3"]["owned_by"] == ["Example NPU vendor, compiler team (compiler)"]


def test_a_changed_file_takes_its_signoff(tmp_path: Path) -> None:
    port = tmp_path / "tiny-dense"
    shutil.copytree(PORT, port, copy_function=shutil.copyfile)
    with (port / "01-reference" / "environment.lock").open("a") as file:
        file.write("# changed\n")
    code, out = run("status", port, "--trust", TRUST, "--json")
    rows = {row["gate"]: row for row in json.loads(out)["gates"]}
    assert code == 1
    assert rows["G1"]["unsigned"] == "model: signed, but 01-reference/environment.lock changed"
    assert rows["G0"]["unsigned"] == ""


def test_another_contract_makes_them_outdated_and_no_more(contract: Contract) -> None:
    other = replace(contract, digest="0" * 64)
    report = audit(PORT, trust=TRUST, contract=other)
    assert report.verdict is Verdict.PASSED
    outdated = [r for r in report.of("signoff-outdated") if r.kind is Kind.FAIL]
    assert {r.gate for r in outdated} == {"port", "G0", "G1", "G2"}
    assert {r.level for r in outdated} == {Level.WARNING}


def test_an_expired_registry_vouches_for_nothing() -> None:
    report = audit(PORT, trust=EXPIRED)
    assert report.exit_code == 1
    assert [r.rule for r in report.findings if r.kind is Kind.FAIL and r.level is Level.ERROR] == ["registry-expired"]
    assert not any(gate.signed_by for gate in report.gates)


def test_the_example_does_not_expire_soon() -> None:
    report = audit(PORT, trust=TRUST, at=datetime(2045, 1, 1, tzinfo=UTC))
    assert report.verdict is Verdict.PASSED


def test_no_private_key_is_left() -> None:
    for path in (p for root in (TRUST, EXPIRED, PORT) for p in root.rglob("*") if p.is_file()):
        assert b"PRIVATE KEY" not in path.read_bytes(), path


def test_the_signed_example_is_small() -> None:
    found = (path for root in (TRUST, PORT) for path in root.rglob("*") if path.is_file())
    assert sum(path.stat().st_size for path in found) < 10 << 20


def test_its_summary_says_passed(tmp_path: Path) -> None:
    signer = key_file(tmp_path / "ci.pem")
    target = tmp_path / "vsa.json"
    code, out = run("verify", PORT, "--trust", TRUST, "--quiet", "--vsa", tmp_path / "ci.pem", "--vsa-out", target)
    assert code == 0, out
    envelope = Envelope.from_dict(json.loads(target.read_bytes()))
    envelope.verify([signer.public_key], 1)
    statement = json.loads(envelope.payload)
    predicate = statement["predicate"]
    assert (predicate["verificationResult"], predicate["verifiedLevels"]) == ("PASSED", ["CALAUDIT_G2"])
    files = {p.relative_to(PORT).as_posix() for p in PORT.rglob("*") if p.is_file()}
    assert {item["name"] for item in statement["subject"]} == files
    assert len(predicate["inputAttestations"]) == len(list(statements()))
    gates = {gate["gate"]: gate for gate in predicate["calaudit_summary"]["gates"]}
    assert gates["G2"]["signed_by"] == ["Example export team (export)"]
    assert predicate["calaudit_summary"]["registry"]["label"] == "example-only"
