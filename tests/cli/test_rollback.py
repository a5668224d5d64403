"""A registry that was seen once is remembered, at a terminal or not: an older one is refused, whoever signed it."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.cli import cli
from tests.casebook import copy_port
from tests.trust.authority import Authority, to_bytes


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def write(folder: Path, authority: Authority) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "1.root.json").write_bytes(to_bytes(authority.root()))
    (folder / "roles.json").write_bytes(to_bytes(authority.registry()))


@pytest.mark.parametrize("verb", ["verify", "status"])
def test_a_rollback_is_seen_by_the_next_audit(tmp_path: Path, verb: str) -> None:
    port, trust, old = tmp_path / "tiny-dense", tmp_path / "trust", tmp_path / "old"
    copy_port(port)
    for folder in ("01-reference", "02-onnx"):
        shutil.rmtree(port / folder)
    write(trust, Authority())
    write(old, Authority())
    assert run("trust", "pin", trust, "--yes").exit_code == 0
    assert "registry-rollback" not in run("verify", port).output
    write(trust, Authority(version=2))
    assert "registry-rollback" not in run(verb, port).output
    shutil.rmtree(trust)
    old.rename(trust)
    done = run("verify", port)
    assert "roles.json is version 1; version 2 was seen before" in " ".join(done.output.split())
    assert done.exit_code == 1
