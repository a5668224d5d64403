"""Checking a model: our own look, the checker in its child process, and what happens when the child fails."""

import os
import shutil

import pytest
from click.testing import CliRunner

from calaudit.cli.onnx import command
from calaudit.harness import onnx_check
from tests.casebook import PORT
from tests.harness.small_port import edit_model


@pytest.fixture
def port(tmp_path):
    (tmp_path / "02-onnx").mkdir()
    for name in ("model.onnx", "model.onnx.data"):
        shutil.copy(PORT / "02-onnx" / name, tmp_path / "02-onnx" / name)
    return tmp_path


def check(*args):
    return CliRunner().invoke(command, ["check", *map(str, args)])


def external(model, name="lm_head.weight"):
    return next(t for t in model.graph.initializer if t.name == name).external_data


def set_entry(entries, key, value):
    for entry in entries:
        if entry.key == key:
            entry.value = value


def test_the_good_model_by_file_and_by_port(port):
    for place in (port, port / "02-onnx/model.onnx"):
        result = check(place)
        assert result.exit_code == 0, result.stderr
        assert "model.onnx is valid ONNX" in result.stdout


def test_external_data_that_is_missing(port):
    (port / "02-onnx/model.onnx.data").unlink()
    result = check(port)
    assert result.exit_code == 1
    assert "which is not a regular data file" in result.stderr


def test_external_data_behind_a_link(port):
    data = port / "02-onnx/model.onnx.data"
    data.rename(port / "elsewhere")
    data.symlink_to(port / "elsewhere")
    result = check(port)
    assert result.exit_code == 1
    assert "which is not a regular data file" in result.stderr


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("offset", "99999999", "The extent ends beyond model.onnx.data"),
        ("length", "4", "The length does not fit shape and type"),
        ("location", "../model.onnx.data", "leaves the folder of the model"),
        ("location", "/etc/passwd", "leaves the folder of the model"),
        ("location", "other.data", "which is not a regular data file"),
    ],
)
def test_external_data_that_the_checker_would_accept_or_follow(port, key, value, said):
    edit_model(port, lambda model: set_entry(external(model), key, value))
    result = check(port)
    assert result.exit_code == 1
    assert said in result.stderr


def test_two_tensors_on_the_same_bytes(port):
    def overlap(model):
        entries = external(model, "model.layers.0.mlp.up_proj.weight")
        other = external(model, "model.layers.0.mlp.down_proj.weight")
        start = next(int(e.value) for e in other if e.key == "offset")
        set_entry(entries, "offset", str(start + 4))

    edit_model(port, overlap)
    result = check(port)
    assert result.exit_code == 1
    assert "share bytes" in result.stderr


def test_a_wrong_checksum(port):
    edit_model(port, lambda model: external(model).add(key="checksum", value="0" * 40))
    result = check(port)
    assert result.exit_code == 1
    assert "is not that of model.onnx.data" in result.stderr


def test_a_broken_graph_is_refused_by_our_own_look(port):
    edit_model(port, lambda model: model.graph.node.pop(0))
    result = check(port)
    assert result.exit_code == 1
    assert "which nothing before it defines" in result.stderr


def test_what_only_the_checker_sees(port):
    def wrong(model):
        next(n for n in model.graph.node if n.op_type == "Softmax").op_type = "Softmacks"

    edit_model(port, wrong)
    result = check(port)
    assert result.exit_code == 1
    assert "The ONNX checker refuses model.onnx" in result.stderr


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff", b"not a model"])
def test_bytes_that_are_no_model(tmp_path, content):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert check(path).exit_code == 1


def test_a_model_that_is_not_there(tmp_path):
    result = check(tmp_path / "model.onnx")
    assert result.exit_code == 2
    assert "No such file" in result.stderr


def test_a_child_that_hangs_is_no_pass(port, monkeypatch):
    monkeypatch.setattr(onnx_check, "_CHILD", "while True: pass")
    result = check(port, "--timeout", "0.2")
    assert result.exit_code == 1
    assert "did not finish model.onnx in 0.2 s" in result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX signals")
def test_a_child_that_dies_is_no_pass(port, monkeypatch):
    monkeypatch.setattr(onnx_check, "_CHILD", "import os; os.kill(os.getpid(), 9)")
    result = check(port)
    assert result.exit_code == 1
    assert "died on model.onnx with status -9" in result.stderr


def test_a_child_that_says_nothing_is_no_pass(port, monkeypatch):
    monkeypatch.setattr(onnx_check, "_CHILD", "")
    result = check(port)
    assert result.exit_code == 1
    assert "gave no answer" in result.stderr
