"""The kit: the same bytes each time, all that a vendor needs, and nothing of the model or the machine."""

import hashlib
import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from calaudit.cli import cli
from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.execute.vendor.kit import make_kit
from calaudit.facts.vendor.kickoff import ITEMS
from calaudit.trust.steps import LAYOUT
from tests.casebook import PORT
from tests.execute.vendor.trade import STEPS, Trade, unpack
from tests.trust.chained import lay_out
from tests.trust.signed_port import MANIFEST


def test_the_same_port_gives_the_same_bytes(trade: Trade, tmp_path: Path) -> None:
    one = make_kit(trade.port.path, trade.port.contract, ["compiler"])
    shutil.copytree(trade.port.path, tmp_path / "elsewhere")
    assert make_kit(tmp_path / "elsewhere", trade.port.contract, ["compiler"]) == one


def test_what_is_in_it(trade: Trade) -> None:
    kit = make_kit(trade.port.path, trade.port.contract, ["compiler"])
    files = unpack(kit.data)
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest == kit.manifest
    assert [item["path"] for item in manifest["files"]] == sorted(files)
    for item in manifest["files"]:
        assert hashlib.sha256(files[item["path"]]).hexdigest() == item["sha256"]
        assert len(files[item["path"]]) == item["bytes"]
    assert trade.port.contract.schemas.is_valid("vendor-kit/v1", manifest)
    assert manifest["contract"] == trade.port.contract.digest
    assert manifest["layout"] is None
    assert [step["name"] for step in manifest["steps"]] == ["answers", "matrix"]
    assert manifest["steps"][0]["materials"] == [{"path": MANIFEST, "sha256": trade.port.digest(MANIFEST)}]
    own = yaml.safe_load(files["port.yaml"])
    assert own["steps"] == {name: STEPS[name] for name in ("answers", "matrix")}
    assert trade.port.contract.schemas.is_valid("port/v1", own)
    needed = {"in-toto-link", "kickoff", "op-matrix", "port", "provenance", "vendor-kit"}
    assert {path for path in files if path.startswith("schemas/")} == {f"schemas/{name}/v1.json" for name in needed}
    assert {"cue/common.cue", "cue/op-matrix.cue", "cue/kickoff.cue", "vendor/kickoff.json"} <= set(files)
    # Nothing of the model, and no place of this machine.
    assert not [path for path in files if path.startswith(("00-", "01-", "02-", "signoffs", "tools"))]
    for data in files.values():
        assert str(trade.root).encode() not in data
        assert str(Path(__file__).parents[3]).encode() not in data


def test_every_role_of_the_example(contract: Contract) -> None:
    kit = make_kit(PORT, contract, ["model", "export"])
    files = unpack(kit.data)
    names = {step["name"] for step in kit.manifest["steps"]}
    assert names == {"reference", "reference-again", "export", "inventory", "compare"}
    assert {"schemas/onnx-report/v1.json", "schemas/output-record/v1.json", "cue/onnx-report.cue"} <= set(files)
    assert len(kit.data) < 1 << 20


def test_the_layout_comes_along(trade: Trade) -> None:
    lay_out(trade.port)
    kit = make_kit(trade.port.path, trade.port.contract, ["compiler"])
    files = unpack(kit.data)
    assert kit.manifest["layout"] == LAYOUT
    assert files[LAYOUT] == (trade.port.path / LAYOUT).read_bytes()
    assert b"`attestations/root.layout`: the signed in-toto layout" in files["README.md"]
    assert "schemas/in-toto-layout/v1.json" in files


def test_what_is_missing_is_told(trade: Trade) -> None:
    readme = unpack(make_kit(trade.port.path, trade.port.contract, ["compiler"]).data)["README.md"].decode()
    owed = [item for item in ITEMS if item != "support-matrix"]
    assert all(f"- `{item}`: {ITEMS[item]}" in readme for item in owed)
    assert "`support-matrix`" not in readme
    (trade.port.path / "vendor/kickoff.json").unlink()
    kit = make_kit(trade.port.path, trade.port.contract, ["compiler"])
    assert kit.manifest["kickoff"] == {"vendor": None, "missing": list(ITEMS)}


def test_the_commands_of_the_readme_are_commands(trade: Trade) -> None:
    import click

    readme = unpack(make_kit(trade.port.path, trade.port.contract, ["compiler"]).data)["README.md"].decode()
    joined = readme.replace("\\\n", " ")
    lines = [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ calaudit")]
    assert len(lines) == 2
    for line in lines:
        words = shlex.split(line)
        command = cli.get_command(click.Context(cli), words[1])
        assert command is not None
        context = command.make_context(words[1], words[2:])
        assert context.params["words"] == tuple(STEPS[context.params["step"]]["run"])
    assert "cue vet -c -E -d '#OpMatrix' cue/*.cue yaml: vendor/op-matrix.yaml" in readme
    assert "calaudit receive return.tar tiny-dense" in readme


def test_the_archive_of_the_readme_is_received(trade: Trade) -> None:
    readme = unpack(make_kit(trade.port.path, trade.port.contract, ["compiler"]).data)["README.md"].decode()
    (line,) = [line for line in readme.replace("\\\n", " ").splitlines() if line.startswith("$ find")]
    trade.attest("matrix")
    trade.attest("answers")
    (trade.vendor / "vendor/kickoff.json").unlink()
    subprocess.run(["sh", "-c", line.removeprefix("$ ").replace("PRODUCTS…", "")], cwd=trade.vendor, check=True)
    with trade.receive((trade.vendor / "return.tar").read_bytes()) as delivery:
        assert len(delivery.fresh) == 6


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("port.yaml", '"--answers"', '"/home/somebody/answers"', "names /home/somebody/answers"),
        ("port.yaml", '"--answers"', '"ghp_' + "a1" * 20 + '"', "GitHub token"),
        ("vendor/kickoff.json", '"Example NPU', '"/home/me/x Example', "names /home/me/x"),
        ("vendor/kickoff.json", '"launch_date"', '"launch"', "kickoff.json#"),
        ("vendor/kickoff.json", "{", "{{", "malformed"),
    ],
)
def test_what_must_not_leave_the_house(trade: Trade, path: str, old: str, new: str, told: str) -> None:
    file = trade.port.path / path
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match=told):
        make_kit(trade.port.path, trade.port.contract, ["compiler"])


def test_a_layout_that_is_none(trade: Trade) -> None:
    trade.port.write(LAYOUT, "{}")
    with pytest.raises(UsageError, match="is no layout"):
        make_kit(trade.port.path, trade.port.contract, ["compiler"])


def test_a_link_in_its_place(trade: Trade) -> None:
    (trade.port.path / "vendor/kickoff.json").unlink()
    (trade.port.path / "vendor/kickoff.json").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="link"):
        make_kit(trade.port.path, trade.port.contract, ["compiler"])


def test_roles(trade: Trade) -> None:
    with pytest.raises(UsageError, match="no role 'nobody'"):
        make_kit(trade.port.path, trade.port.contract, ["compiler", "nobody"])
    kit = make_kit(trade.port.path, trade.port.contract, ["quant"])
    assert kit.manifest["steps"] == []
    assert "declares no step of yours" in unpack(kit.data)["README.md"].decode()
