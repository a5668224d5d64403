"""Comparing a graph with its reference: what agrees, and that nothing else passes for agreement."""

import json
import math

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import helper

from calaudit.cli.onnx import command
from tests.harness import small_port


@pytest.fixture
def port(tmp_path):
    return small_port.make(tmp_path)


def compare(port):
    return CliRunner().invoke(command, ["compare", str(port)])


def report(port):
    return json.loads((port / "02-onnx/onnx-report.json").read_text())


def test_the_good_graph_agrees(port, contract):
    result = compare(port)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "3 prompts and 31 tensors agree with the reference.\n"
    written = report(port)
    assert written["greedy"] == {"samples": 3, "equal": 3, "mismatched": []}
    assert written["tensors"]["compared"] == 31
    assert 0 < written["tensors"]["max_abs_diff"] < 1e-4
    assert [(b["profile"], b["sequence_length"]) for b in written["boundaries"]] == [("prefill", 16), ("decode", 1)]
    assert contract.schemas.is_valid("onnx-report/v1", written)
    for record in small_port.records(port / "02-onnx/onnx-outputs.jsonl"):
        assert contract.schemas.is_valid("output-record/v1", record)
    assert contract.schemas.is_valid("tensor-index/v1", json.loads((port / "02-onnx/tensors/index.json").read_text()))


def test_every_prompt_has_a_record_and_the_refusal_is_one(port):
    compare(port)
    records = small_port.records(port / "02-onnx/onnx-outputs.jsonl")
    assert sorted(r["sample_id"] for r in records) == sorted(small_port.SAMPLES)
    assert [r["refused"] for r in records if "refused" in r] == [
        {"code": "context_length_exceeded", "limit": 2048, "length": 2049}
    ]


def test_a_nan_logit_is_a_difference_and_is_not_written(port):
    small_port.poke(port, "lm_head.weight", [math.nan])
    result = compare(port)
    assert result.exit_code == 1
    assert "boundary-0016: the graph gives no usable answer: step 0 has 1 logits that are not finite." in result.stderr
    assert "logits of boundary-0016, prefill step 0: the graph gives NaN" in result.stderr
    written = report(port)
    assert written["greedy"] == {
        "samples": 3,
        "equal": 0,
        "mismatched": ["multilingual-11", "boundary-0001", "boundary-0016"],
    }
    assert written["boundaries"] == []
    assert "NaN" not in (port / "02-onnx/onnx-outputs.jsonl").read_text()
    assert all(not p.name.endswith("logits.npy") for p in (port / "02-onnx/tensors").iterdir())


def test_other_weights_give_other_tokens(port):
    small_port.poke(port, "lm_head.weight", [9.0] * 1024)
    result = compare(port)
    assert result.exit_code == 1
    assert "boundary-0016: the graph answers [" in result.stderr
    assert report(port)["greedy"]["equal"] < 3


def test_a_tensor_beyond_the_tolerance(port):
    which = small_port.edit_golden(port, 0, lambda v: v + np.float32(0.01))
    result = compare(port)
    assert result.exit_code == 1
    assert which in result.stderr
    assert "are off by more than 0.0001 + 0.001 * |reference|, the worst by 0.01" in result.stderr


def test_a_golden_that_is_not_finite(port):
    def spoil(values):
        values.flat[3] = np.nan
        return values

    which = small_port.edit_golden(port, 0, spoil)
    result = compare(port)
    assert result.exit_code == 1
    assert f"{which}, prefill step 0: the reference holds NaN or infinity." in result.stderr
    assert report(port)["tensors"]["compared"] == 30


def test_a_golden_of_another_shape(port):
    small_port.edit_golden(port, 0, lambda v: v[:, :-1])
    result = compare(port)
    assert result.exit_code == 1
    assert "the graph gives [1, " in result.stderr


def test_a_golden_that_is_not_what_its_index_says(port):
    entry = small_port.golden(port)["tensors"][0]
    path = port / "01-reference/tensor-golden" / entry["path"]
    path.write_bytes(path.read_bytes()[:-4] + b"\0\0\0\0")
    result = compare(port)
    assert result.exit_code == 3
    assert "has not the digest that its index records" in result.stderr


def test_a_boundary_that_is_not_mapped_is_a_difference(port):
    config = port / "02-onnx/export-config.yaml"
    config.write_text(config.read_text().replace("  norm: norm\n", ""))
    result = compare(port)
    assert result.exit_code == 1
    assert "norm of boundary-0016, prefill step 0: export-config.yaml maps the boundary to no value" in result.stderr


def test_a_boundary_that_the_graph_does_not_compute(port):
    config = port / "02-onnx/export-config.yaml"
    config.write_text(config.read_text().replace("  norm: norm\n", "  norm: nowhere\n"))
    result = compare(port)
    assert result.exit_code == 1
    assert "computes no value 'nowhere'" in result.stderr


def test_a_missing_output_is_an_error_and_not_skipped(port):
    small_port.edit_model(port, lambda model: model.graph.output.pop())
    result = compare(port)
    assert result.exit_code == 1
    assert "has no output present_value_3" in result.stderr
    assert not (port / "02-onnx/onnx-report.json").exists()


def test_logits_of_every_position_are_refused(port):
    def widen(model):
        last = next(n for n in model.graph.node if n.output[0] == "logits")
        last.input[0] = "norm"
        shape = next(o for o in model.graph.output if o.name == "logits").type.tensor_type.shape
        shape.dim[1].ClearField("dim_value")
        shape.dim[1].dim_param = "T"

    small_port.edit_model(port, widen)
    result = compare(port)
    assert result.exit_code == 1
    assert "logits have the shape [1, 16, 1024]; expected [1, 1, V]" in result.stderr


def test_a_graph_without_past_cannot_be_driven(port):
    def forget(model):
        value = helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, [1, "T"])
        other = helper.make_tensor_value_info("position_ids", onnx.TensorProto.INT64, [1, "T"])
        out = helper.make_tensor_value_info("logits", onnx.TensorProto.INT64, [1, "T"])
        node = helper.make_node("Identity", ["input_ids"], ["logits"])
        model.graph.CopyFrom(helper.make_graph([node], "g", [value, other], [out]))

    small_port.edit_model(port, forget)
    result = compare(port)
    assert result.exit_code == 1
    assert "no inputs past_key_i and past_value_i" in result.stderr


def test_external_data_that_are_too_short(port):
    data = port / "02-onnx/model.onnx.data"
    data.write_bytes(data.read_bytes()[:-1])
    result = compare(port)
    assert result.exit_code == 1
    assert "The extent ends beyond model.onnx.data" in result.stderr
    assert not (port / "02-onnx/onnx-report.json").exists()


def test_a_reference_without_the_record(port):
    path = port / "01-reference/outputs.jsonl"
    kept = [r for r in small_port.records(path) if (r["sample_id"], r["dtype"]) != ("boundary-0016", "float32")]
    small_port.write_records(path, kept)
    result = compare(port)
    assert result.exit_code == 1
    assert "boundary-0016: 01-reference/outputs.jsonl has no float32 record to compare with." in result.stderr
    assert report(port)["greedy"]["mismatched"] == ["boundary-0016"]


def test_a_case_without_a_golden_is_a_difference(port):
    matrix = port / "configs/shape-matrix.yaml"
    matrix.write_text(matrix.read_text().replace("id: decode-0001", "id: lost").replace("boundary-0001", "numbers-01"))
    result = compare(port)
    assert result.exit_code == 1
    assert "case lost was not compared" in result.stderr


@pytest.mark.parametrize(
    "path",
    ["01-reference/prompts.jsonl", "01-reference/outputs.jsonl", "configs/shape-matrix.yaml", "02-onnx/model.onnx"],
)
def test_what_is_missing_is_named(port, path):
    (port / path).unlink()
    result = compare(port)
    assert result.exit_code == 3
    assert path in result.stderr


def test_no_prompt_at_all_is_no_agreement(port):
    for name in ("prompts", "outputs"):
        (port / f"01-reference/{name}.jsonl").write_text("")
    index = small_port.golden(port)
    small_port.write_golden(port, index | {"tensors": []})
    assert compare(port).exit_code != 0


def test_an_unknown_profile_is_a_usage_error(port):
    manifest = port / "port.yaml"
    manifest.write_text(manifest.read_text().replace("profile: example", "profile: nobodys"))
    result = compare(port)
    assert result.exit_code == 2
    assert "there is no profile nobodys" in result.stderr


def test_tensors_of_an_earlier_run_are_removed(port):
    folder = port / "02-onnx/tensors"
    folder.mkdir()
    (folder / "stale.npy").write_bytes(b"")
    assert compare(port).exit_code == 0
    assert not (folder / "stale.npy").exists()
