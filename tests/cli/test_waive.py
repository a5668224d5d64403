"""``calaudit waive``: narrow, short, and agreed to by everybody who has to."""

import base64
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.api import audit
from calaudit.cli import cli
from calaudit.contract import Contract
from calaudit.model import Verdict
from calaudit.pins import load_directory
from tests.casebook import PORT
from tests.sign.make import Keepers, keepers

pytestmark = pytest.mark.usefixtures("remembered")

Run = Callable[..., Result]
RULE, FILE = "artifact-unexpected", "01-reference/notes.txt"
SOON = f"{datetime.now(UTC) + timedelta(days=60):%Y-%m-%d}"
WORDS = ("--reason", "kept for the auditors", "--ticket", "PORT-17", "--until", SOON)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Keepers:
    return keepers(tmp_path_factory.mktemp("trust"))


@pytest.fixture
def port(tmp_path: Path) -> Path:
    shutil.copytree(PORT, tmp_path / "tiny-dense", ignore=shutil.ignore_patterns("signoffs", "waivers", "attestations"))
    (tmp_path / "tiny-dense" / FILE).write_text("a note\n")
    return tmp_path / "tiny-dense"


@pytest.fixture
def run(port: Path, made: Keepers, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("calaudit.cli._signing.load_contract", lambda **_: contract)

    def invoke(role: str, key: str, *args: str, rule: str = RULE, file: str = FILE, code: int = 0) -> Result:
        options = [
            "--port",
            str(port),
            "--gate",
            "G1",
            "--role",
            role,
            "--key",
            made.key(key),
            "--trust",
            str(made.path),
        ]
        done = CliRunner().invoke(cli, ["waive", rule, file, *options, "--yes", *args])
        assert done.exit_code == code, done.output
        assert "Traceback" not in done.output
        return done

    return invoke


def test_a_waiver_counts_once_everybody_signed(run: Run, port: Path, made: Keepers, contract: Contract) -> None:
    trust = load_directory(made.path)
    told = run("model", "model-1", *WORDS).output
    assert "signed so far by nobody" in told
    assert "needs model, release, each by its own threshold" in told
    assert "signed by model, release" not in told
    assert "2 owner(s) of release still have to sign" in told
    assert "owner(s) of model still" not in told
    path = next((port / "waivers").iterdir())
    said = json.loads(base64.b64decode(json.loads(path.read_bytes())["payload"]))
    assert (said["predicate"]["rule"], said["subject"][0]["name"]) == (RULE, FILE)
    assert said["predicate"]["until"] == f"{SOON}T00:00:00Z"
    assert not [r for r in audit(port, trust=trust, contract=contract).results if r.suppression]
    told = run("release", "release-1").output
    assert "(model)" in next(line for line in told.splitlines() if "signed so far by" in line)
    assert "signed this already" in run("release", "release-1", code=2).output
    assert "the waiver counts" in run("release", "release-2").output
    report = audit(port, trust=trust, contract=contract)
    waived = [r for r in report.results if r.suppression]
    assert [(r.rule, r.location.path if r.location else "") for r in waived] == [(RULE, FILE)]
    gate = next(g for g in report.gates if g.gate == "G1")
    assert gate.technical is Verdict.FAILED
    # A waived failure can be approved; the signoff names the waiver.
    for name in ("G0", "G1"):
        args = ["signoff", name, str(port), "--role", "model", "--key", made.key("model-1"), "--trust", str(made.path)]
        done = CliRunner().invoke(cli, [*args, "--yes"])
        assert done.exit_code == 0, done.output
    assert f"waived {RULE}" in done.output
    said = json.loads(base64.b64decode(json.loads((port / "signoffs/G1.model.dsse.json").read_bytes())["payload"]))
    assert [item["name"] for item in said["predicate"]["waivers"]] == [f"waivers/{path.name}"]
    assert said["predicate"]["technical"]["verdict"] == "FAILED"
    report = audit(port, trust=trust, contract=contract)
    assert next(g for g in report.gates if g.gate == "G1").signed_by == ("Model crew AA (model)",)


def test_a_second_signer_signs_the_same_words(run: Run, port: Path) -> None:
    run("model", "model-1", *WORDS)
    told = run("release", "release-1", "--reason", "something else", code=2).output
    assert "says another reason" in told
    assert "Nothing was written" in run("release", "release-1", "--dry-run").output
    # Other bytes need another waiver, from the first word on.
    (port / FILE).write_text("another note\n")
    assert "is missing" in run("release", "release-1", code=2).output
    run("release", "release-1", *WORDS)
    assert "does not fail" in run("model", "model-1", file="01-reference/tokens.jsonl", code=2).output
