"""What stands beside or around the port does not choose what it is judged by."""

from pathlib import Path

import pytest

from calaudit import audit
from calaudit.contract import Contract
from tests.casebook import copy_port


def test_policies_beside_the_port_and_in_the_current_folder_are_not_read(
    tmp_path: Path, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = tmp_path / "port"
    copy_port(port)
    for folder in (tmp_path, port):
        (folder / "policies").mkdir()
        (folder / "policies" / "gates.yaml").write_text("schema: calaudit-gates/v1\ngates: []\n")
        (folder / "schemas").mkdir()
        (folder / "calaudit.toml").write_text("profile = 'none'\n")
    for name in ("CALAUDIT_POLICY", "CALAUDIT_PROFILE", "CALAUDIT_CONTRACT", "CALAUDIT_DATA"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    report = audit("port")
    assert report.contract_digest == contract.digest
    assert {r.location.path for r in report.of("common.artifact-unexpected") if r.location} == {
        "calaudit.toml",
        "policies/gates.yaml",
    }
