"""The toolchain's command line and what its steps refuse."""

import shutil
import subprocess
import sys

import pytest
import yaml

from calaudit.errors import UsageError
from examples.toolchain.build import build
from examples.toolchain.export import export
from examples.toolchain.invocation import environment_lock, invocation
from examples.toolchain.reference import Run, run_reference
from tests.casebook import PORT


def test_an_unknown_gate_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no gate G7"):
        build(tmp_path, ["G0", "G7"])


def test_only_one_gate_can_be_built(tmp_path):
    command = [sys.executable, "-m", "examples.toolchain", "build", str(tmp_path / "out"), "--only", "G0"]
    subprocess.run(command, cwd=PORT.parent.parent.parent, check=True)
    assert (tmp_path / "out/00-source/source-manifest.json").is_file()
    assert not (tmp_path / "out/01-reference").exists()


def test_the_exporter_refuses_what_it_does_not_do(tmp_path):
    config = yaml.safe_load((PORT / "02-onnx/export-config.yaml").read_text())
    config["constant_folding"] = True
    (tmp_path / "export-config.yaml").write_text(yaml.safe_dump(config))
    with pytest.raises(UsageError, match="constant_folding is True"):
        export(PORT / "00-source", tmp_path / "export-config.yaml", tmp_path / "model.onnx")


def test_exporting_twice_gives_the_same_bytes_and_does_not_append(tmp_path):
    shutil.copy(PORT / "02-onnx/export-config.yaml", tmp_path)
    for _ in range(2):
        export(PORT / "00-source", tmp_path / "export-config.yaml", tmp_path / "model.onnx")
        for name in ("model.onnx", "model.onnx.data"):
            assert (tmp_path / name).read_bytes() == (PORT / "02-onnx" / name).read_bytes()


def test_the_reference_demands_its_environment(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    run = Run(source=PORT, prompts=PORT, output=PORT, dtypes=("float32",), number=1)
    with pytest.raises(UsageError, match="OPENBLAS_NUM_THREADS is '2'"):
        run_reference(run)


def test_invocations_are_derived_and_distinct(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    first, second = (invocation("reference", run=n, order=n) for n in (1, 2))
    assert first == invocation("reference", run=1, order=1)
    assert first["id"] != second["id"]
    assert (first["started"], first["finished"]) == ("1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH is 'yesterday'"):
        invocation("reference", run=1, order=1)


def test_the_lock_pins_everything_the_toolchain_imports():
    lines = environment_lock().splitlines()
    assert all("==" in line for line in lines)
    names = {line.partition("==")[0] for line in lines}
    assert {"ml-dtypes", "numpy", "onnx", "onnxruntime", "safetensors", "tokenizers", "protobuf"} <= names


@pytest.mark.parametrize("tool", ["generate_reference", "export_onnx", "list_onnx_ops", "compare_reference_onnx"])
def test_the_port_s_own_scripts_run(tool):
    command = [sys.executable, str(PORT / "tools" / f"{tool}.py"), "--help"]
    environment = {"PYTHONPATH": str(PORT.parent.parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(command, env=environment, check=False, capture_output=True)
    assert result.returncode == 0, result.stderr
