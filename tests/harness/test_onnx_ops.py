"""The op inventory: what is counted, and that external data are not needed."""

import json
import shutil

import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from calaudit.cli.onnx import command
from calaudit.harness.onnx_ops import op_inventory
from tests.casebook import PORT


def ops(*args):
    return CliRunner().invoke(command, ["ops", *map(str, args)])


def test_the_inventory_of_the_example_is_the_committed_one():
    result = ops(PORT)
    assert result.exit_code == 0
    assert result.stdout_bytes == (PORT / "02-onnx/op-inventory.json").read_bytes()


def test_external_data_are_not_read(tmp_path):
    shutil.copy(PORT / "02-onnx/model.onnx", tmp_path)
    assert op_inventory(tmp_path / "model.onnx")["nodes"] == 276


def test_it_can_be_written_to_a_file(tmp_path):
    result = ops(PORT / "02-onnx/model.onnx", "-o", tmp_path / "ops.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads((tmp_path / "ops.json").read_text())["schema"] == "calaudit-op-inventory/v1"


def test_subgraphs_functions_and_the_default_domain_count(tmp_path, contract):
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    branch = [
        helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [helper.make_tensor_value_info(op, 1, [1])])
        for op in ("Neg", "Abs")
    ]
    nodes = [
        helper.make_node("If", ["c"], ["z"], then_branch=branch[0], else_branch=branch[1]),
        helper.make_node("Neg", ["z"], ["w"], domain="ai.onnx"),
        helper.make_node("Twice", ["w"], ["y"], domain="own"),
    ]
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 20)]
    )
    model = helper.make_model(
        helper.make_graph(nodes, "g", [condition, x], [y]),
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("own", 1)],
        functions=[twice],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    found = op_inventory(path)
    assert [(o["domain"], o["op_type"], o["count"]) for o in found["ops"]] == [
        ("", "Abs", 1),
        ("", "Add", 1),
        ("", "If", 1),
        ("", "Neg", 2),
        ("own", "Twice", 1),
    ]
    assert (found["nodes"], found["functions"]) == (6, 1)
    assert contract.schemas.is_valid("op-inventory/v1", found)


@pytest.mark.parametrize("content", [b"", b"\xff\xff", b"{}"])
def test_bytes_that_are_no_model(tmp_path, content):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    result = ops(path)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("calaudit: ")


def test_a_model_that_is_not_there(tmp_path):
    result = ops(tmp_path / "model.onnx")
    assert result.exit_code == 2
    assert "model.onnx cannot be read: No such file or directory." in result.stderr
