"""``calaudit signoff``: nobody signs what would be refused, and what is signed is what verification asks for."""

import base64
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.api import audit
from calaudit.cli import cli
from calaudit.contract import Contract
from calaudit.pins import load_directory
from calaudit.sign.opening import open_folder
from tests.casebook import PORT
from tests.sign.make import Keepers, keepers

Run = Callable[..., Result]

pytestmark = pytest.mark.usefixtures("remembered")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Keepers:
    return keepers(tmp_path_factory.mktemp("trust"))


@pytest.fixture
def port(tmp_path: Path) -> Path:
    shutil.copytree(PORT, tmp_path / "tiny-dense", ignore=shutil.ignore_patterns("signoffs", "waivers", "attestations"))
    return tmp_path / "tiny-dense"


@pytest.fixture
def run(port: Path, made: Keepers, contract: Contract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr("calaudit.cli._signing.load_contract", lambda **_: contract)

    def invoke(gate: str, role: str, key: str | None = None, *args: str, code: int = 0) -> Result:
        with_key = () if key == "" else ("--key", made.key(key or f"{role}-1"))
        options = ("--role", role, "--trust", str(made.path), "--yes", *with_key, *args)
        done = CliRunner().invoke(cli, ["signoff", gate, str(port), *options])
        assert done.exit_code == code, done.output
        assert "Traceback" not in done.output
        return done

    return invoke


def statement(port: Path, name: str) -> dict[str, object]:
    return json.loads(base64.b64decode(json.loads((port / "signoffs" / name).read_bytes())["payload"]))


def names(port: Path) -> list[str]:
    return sorted(p.name for p in (port / "signoffs").iterdir()) if (port / "signoffs").exists() else []


def test_the_gates_are_signed_upwards_and_verification_takes_it(
    run: Run, port: Path, made: Keepers, contract: Contract
) -> None:
    assert "rests on G0, which model has not signed yet" in run("G1", "model", code=2).output
    told = run("G0", "model").output
    run("G1", "model")
    run("G2", "export")
    run("port", "compiler")
    assert names(port) == ["G0.model.dsse.json", "G1.model.dsse.json", "G2.export.dsse.json", "port.compiler.dsse.json"]
    report = audit(port, trust=load_directory(made.path), contract=contract)
    gates = {gate.gate: gate for gate in report.gates}
    assert [gates[g].signed_by for g in ("G0", "G1", "G2", "port")] == [
        ("Model crew AA (model)",),
        ("Model crew AA (model)",),
        ("Export crew AA (export)",),
        ("Compiler crew AA (compiler)",),
    ]
    assert not [r for r in report.findings if r.rule.startswith("signoff") or r.rule == "vendor-unsigned"]
    # What was shown is what was signed.
    said = statement(port, "G0.model.dsse.json")
    predicate = said["predicate"]
    assert predicate["technical"] == {"verdict": "PASSED", "digest": gates["G0"].technical_digest}
    for shown in (
        predicate["technical"]["digest"],
        predicate["contract"]["digest"],
        predicate["registry"]["digest"],
        *(item["digest"]["sha256"] for item in said["subject"]),
        *(item["name"] for item in said["subject"]),
    ):
        assert shown in told
    assert predicate["registry"]["digest"] == hashlib.sha256((made.path / "roles.json").read_bytes()).hexdigest()
    below = statement(port, "G1.model.dsse.json")["predicate"]["depends"]
    payload = base64.b64decode(json.loads((port / "signoffs/G0.model.dsse.json").read_bytes())["payload"])
    assert below == [{"gate": "G0", "role": "model", "digest": hashlib.sha256(payload).hexdigest()}]
    assert "technical" not in statement(port, "port.compiler.dsse.json")["predicate"]


@pytest.mark.parametrize(
    ("key", "args", "sentence"),
    [
        ("", (), "--key is missing"),
        ("export-1", (), "speaks for export"),
        (None, ("--identity-token-env", "X"), "no --key"),
        ("", ("--identity-token-env", "X"), "--sigstore-config"),
    ],
)
def test_what_cannot_sign(run: Run, port: Path, key: str | None, args: tuple[str, ...], sentence: str) -> None:
    assert sentence in run("G0", "model", key, *args, code=2).output
    assert names(port) == []


def test_a_dry_run_writes_nothing_and_asks_for_no_key(run: Run, port: Path) -> None:
    assert "Nothing was written" in run("G0", "model", "", "--dry-run").output
    assert names(port) == []


def test_a_gate_that_fails_is_rejected_or_left(run: Run, port: Path) -> None:
    path = port / "00-source/source-manifest.json"
    path.write_text(path.read_text().replace('"license": "Apache-2.0"', '"license": "NoSuchLicence"', 1))
    told = run("G0", "model", code=2).output
    assert "cannot be approved" in told
    assert "license" in told
    run("G0", "model", None, "--decision", "reject", "--reason", "the licence is unknown")
    predicate = statement(port, "G0.model.dsse.json")["predicate"]
    assert (predicate["decision"], predicate["reason"]) == ("reject", "the licence is unknown")
    assert "does not hold" in run("G1", "model", code=2).output


def test_a_warning_is_called_so(run: Run, port: Path) -> None:
    path = port / "00-source/source-manifest.json"
    manifest = json.loads(path.read_text())
    manifest["targets"] |= {"batch": [4], "context": [16384]}
    path.write_text(json.dumps(manifest))
    told = run("G0", "model", "", "--decision", "reject", "--reason", "too complex", "--dry-run", "--all").output
    assert "  warning complexity-too-high" in told
    assert "fail complexity-too-high" not in told
    assert "  fail " in told


def test_a_changed_port_is_signed_anew(run: Run, port: Path) -> None:
    run("G0", "model")
    before = (port / "signoffs/G0.model.dsse.json").read_bytes()
    assert "signed this already" in run("G0", "model", code=2).output
    path = port / "00-source/source-manifest.json"
    path.write_text(path.read_text() + "\n")
    assert "replaced: signoffs/G0.model.dsse.json" in run("G0", "model").output
    assert (port / "signoffs/G0.model.dsse.json").read_bytes() != before


def test_two_owners_sign_one_payload(run: Run, port: Path, made: Keepers, contract: Contract, tmp_path: Path) -> None:
    from calaudit.sign.metadata import sign
    from calaudit.sign.registry import add_owner, successor
    from tests.sign.make import key_file, new_owner

    kept, made.path = made.path, tmp_path / "trust"
    shutil.copytree(kept, made.path)
    folder = open_folder(made.path)
    registry = successor(folder.coming_registry, folder.registry_version)
    add_owner(registry, new_owner("model", key_file(made.keys / "model-2.pem"), name="Second crew"), threshold=2)
    for signer in made.roots[:2]:
        registry = sign(registry, signer)
    folder.write_registry(registry)
    assert open_folder(made.path).publish() == ("roles.json",)
    told = run("G0", "model").output
    assert "1 more owner(s) of model have to sign" in told
    first = json.loads((port / "signoffs/G0.model.dsse.json").read_bytes())
    told = run("G0", "model", "model-2").output
    assert "still right" in told
    assert "2 of 2 owner(s)" in told
    both = json.loads((port / "signoffs/G0.model.dsse.json").read_bytes())
    assert both["payload"] == first["payload"]
    assert both["signatures"][0] == first["signatures"][0]
    assert len(both["signatures"]) == 2
    report = audit(port, trust=load_directory(made.path), contract=contract)
    made.path = kept
    assert len(next(g for g in report.gates if g.gate == "G0").signed_by) == 2


def test_a_forged_companion_is_noticed(run: Run, port: Path, made: Keepers) -> None:
    run("G0", "model")
    path = port / "signoffs/G0.model.dsse.json"
    document = json.loads(path.read_bytes())
    document["signatures"][0]["keyid"] = made.owners["export"][0].public_key.keyid
    path.write_text(json.dumps(document))
    assert "would be refused (signoff-wrong-role)" in run("G0", "model", code=2).output


def test_without_trust_nothing_is_signed(port: Path, made: Keepers, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))
    args = ["signoff", "G0", str(port), "--role", "model", "--key", made.key("model-1"), "--yes"]
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 2
    assert "No trust root is pinned" in done.output
    other = keepers(tmp_path / "other", port="another-port", owned=())
    done = CliRunner().invoke(cli, [*args, "--trust", str(other.path)])
    assert "does not speak for the port tiny-dense" in done.output
    shutil.copytree(made.path, port / "trust")
    done = CliRunner().invoke(cli, [*args, "--trust", str(port / "trust")])
    assert "vouch for itself" in done.output
    assert names(port) == []
