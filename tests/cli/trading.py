"""A port that a vendor makes something for, keys of both sides, and the verbs as either side says them."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from calaudit.cli import _policy_lint, _shared, _signing, cli
from calaudit.contract import Contract
from calaudit.trust.roles import ROLES
from tests.casebook import PORT
from tests.execute.small import snapshot
from tests.execute.vendor.trade import MATRIX, STEPS
from tests.sign.make import Keepers, keepers
from tests.trust.signed_port import MANIFEST

TIMES = ("--started", "2026-11-29T08:00:00Z", "--finished", "2026-11-29T09:00:00Z")
COMMAND = ("--command", 'calcc --print-matrix "it\'s"')


IMPORTED = (_policy_lint, _shared, _signing)
"""What binds ``load_contract`` when it is imported: not while a fixture has put another one in its place."""


@dataclass
class Sides:
    root: Path
    made: Keepers
    matrix: bytes

    @property
    def port(self) -> Path:
        return self.root / "tiny-dense"

    @property
    def vendor(self) -> Path:
        return self.root / "vendor"

    def __call__(self, *args: str, code: int = 0) -> Result:
        done = CliRunner().invoke(cli, [str(arg) for arg in args])
        assert done.exit_code == code, done.output
        assert "Traceback" not in done.output
        return done

    def unpacked(self) -> None:
        """The vendor has the kit, what the step reads, and what it made."""
        self("vendor-kit", str(self.port), "-o", str(self.root / "kit.tar"))
        self.vendor.mkdir()
        shutil.unpack_archive(self.root / "kit.tar", self.vendor, filter="data")
        for path, data in ((MANIFEST, (self.port / MANIFEST).read_bytes()), (MATRIX, self.matrix)):
            (self.vendor / path).parent.mkdir(parents=True, exist_ok=True)
            (self.vendor / path).write_bytes(data)

    def attest(self, *args: str, key: str = "compiler-functionary-1", code: int = 0) -> Result:
        signing = ("--key", self.made.key(key), "--yes", *TIMES)
        return self("attest", "matrix", str(self.vendor), *signing, *(args or COMMAND), code=code)

    def packed(self) -> Path:
        """An archive as anybody makes it, folders in it too."""
        (self.root / "out").mkdir()
        for path in (MATRIX, *(f"attestations/{p.name}" for p in (self.vendor / "attestations").iterdir())):
            (self.root / "out" / path).parent.mkdir(exist_ok=True)
            shutil.copyfile(self.vendor / path, self.root / "out" / path)
        return Path(shutil.make_archive(str(self.root / "return"), "tar", self.root / "out"))

    def receive(self, *args: str, trust: bool = True, code: int = 0) -> Result:
        trusted = ("--trust", str(self.made.path)) if trust else ()
        return self("receive", str(self.root / "return.tar"), str(self.port), *trusted, *args, code=code)

    def picture(self) -> dict[str, str]:
        return snapshot(self.port)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Keepers:
    return keepers(tmp_path_factory.mktemp("trading"), owned=(*ROLES, "compiler-functionary", "model-functionary"))


@pytest.fixture
def sides(tmp_path: Path, made: Keepers, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sides]:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr("calaudit.contract.load_contract", lambda **_: contract)
    left_out = shutil.ignore_patterns("signoffs", "waivers", "attestations", "01-reference", "02-onnx")
    shutil.copytree(PORT, tmp_path / "tiny-dense", ignore=left_out)
    found = Sides(tmp_path, made, (PORT / MATRIX).read_bytes())
    document = yaml.safe_load((found.port / "port.yaml").read_text())
    (found.port / "port.yaml").write_text(json.dumps({**document, "claim": "G0", "steps": STEPS}))
    (found.port / MATRIX).unlink()
    return found
