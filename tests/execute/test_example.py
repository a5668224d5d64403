"""The example's own steps in the sandbox: what they make is, byte for byte, what is committed."""

import shutil
import sys
from pathlib import Path

import pytest

from calaudit.execute.batch import Batch
from calaudit.execute.means import Wish
from calaudit.pins import load_directory
from examples.toolchain.owners import Owners
from tests.casebook import PORT, SIGNED
from tests.execute.small import snapshot
from tests.execute.test_batch import Said

TOP = Path(__file__).parent.parent.parent
PARTS = ("calaudit", "schemas", "policies", "examples/toolchain")
TOOLCHAIN = tuple(map(Path, dict.fromkeys((sys.prefix, sys.base_prefix)))) + tuple(TOP / part for part in PARTS)
"""The environment that runs this test, its interpreter, and the parts of this checkout that the scripts import."""


@pytest.mark.parametrize("made", [("02-onnx/model.onnx", "02-onnx/model.onnx.data", "02-onnx/op-inventory.json")])
def test_the_export_is_made_again(tmp_path: Path, made: tuple[str, ...]) -> None:
    port = tmp_path / "tiny-dense"
    shutil.copytree(PORT, port, ignore=shutil.ignore_patterns(*SIGNED))
    before = snapshot(port)
    for path in made:
        (port / path).unlink()
    owners = Owners.make()
    owners.write_trust(tmp_path / "trust", ports=["tiny-dense"])
    (key,) = owners.roles["export-functionary"]
    for name in ("export", "inventory"):
        wish = Wish(
            port=port,
            step=name,
            toolchains={"example-py311": TOOLCHAIN},
            trust=load_directory(tmp_path / "trust"),
        )
        (record,) = Batch(wish).run([key], Said())
        assert record.executor == "bwrap"
        assert record.outcome.network_attempts == ()
        assert record.versions["onnx"]
        assert Batch(wish).run([key], Said()) == []
    after = snapshot(port)
    assert {path: digest for path, digest in after.items() if not path.startswith("attestations")} == before
    assert len(list((port / "attestations").iterdir())) == 4
