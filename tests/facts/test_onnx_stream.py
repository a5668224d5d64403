"""One pass over external data; and that native code never sees a file."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

from calaudit.errors import MissingFact
from calaudit.facts.onnx.extents import Extent
from calaudit.facts.onnx.neutral import neutralise
from calaudit.facts.onnx.signature import check_copy
from calaudit.facts.onnx.stream import stream


@given(
    st.binary(min_size=1, max_size=200),
    st.lists(st.integers(0, 200), max_size=8),
    st.lists(st.integers(1, 50), min_size=1, max_size=9),
)
def test_slices_and_gaps_whatever_the_chunks(data: bytes, marks: list[int], cuts: list[int]) -> None:
    edges = sorted({m % (len(data) + 1) for m in marks})
    spans = list(zip(edges[::2], edges[1::2], strict=False))
    extents = [
        Extent(path="f", offset=a, length=b - a, tensor=f"t{a}", dtype=2, dims=(b - a,), checksum="0" * 40)
        for a, b in spans
    ]
    chunks, at, turn = [], 0, 0
    while at < len(data):
        size = cuts[turn % len(cuts)]
        chunks.append(memoryview(data)[at : at + size])
        at, turn = at + size, turn + 1
    found = stream(chunks, len(data), extents)
    for a, b in spans:
        assert found.slices[a, b - a].sha256 == hashlib.sha256(data[a:b]).hexdigest()
        assert found.slices[a, b - a].sha1 == hashlib.sha1(data[a:b], usedforsecurity=False).hexdigest()
    if spans:
        inside = {n for a, b in spans for n in range(a, b)}
        dirty = {n for n, byte in enumerate(data) if byte and n not in inside}
        assert {n for a, size in found.hidden for n in range(a, a + size) if data[n]} == dirty


def test_values_are_counted_across_chunks() -> None:
    values = np.arange(100, dtype="<f4")
    values[[3, 50]] = np.nan, np.inf
    raw = values.tobytes()
    extent = Extent(path="f", offset=0, length=len(raw), tensor="t", dtype=1, dims=(100,))
    found = stream([memoryview(raw)[n : n + 7] for n in range(0, len(raw), 7)], len(raw), [extent])
    assert (found.slices[0, 400].nonfinite, found.slices[0, 400].nan) == (2, 1)


def _model(location: str, *, attribute: bool = False) -> ModelProto:
    weights = TensorProto(name="w", data_type=1, dims=[2, 2], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=location)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    if attribute:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=weights))
    made = helper.make_graph(nodes, "g", [x], [y], [] if attribute else [weights])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)])


@pytest.mark.parametrize("location", ["secret", "../secret", "/etc/passwd", "fifo"])
def test_the_checker_sees_no_file(location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the model itself it would open the location below the current directory; a pipe would block for ever."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    model = _model(location)
    copy = neutralise(model)
    assert [v.name for v in copy.graph.input] == ["x", "w"]
    assert not copy.graph.initializer
    assert check_copy(copy) is None
    assert len(model.graph.initializer) == 1, "the fact's model is not changed"


def test_an_external_constant_cannot_be_neutralised() -> None:
    with pytest.raises(MissingFact, match="inline"):
        neutralise(_model("a", attribute=True))


def test_before_ir_version_4_an_initializer_is_an_input_already() -> None:
    model = _model("a")
    model.ir_version = 3
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2, 2]))
    assert [v.name for v in neutralise(model).graph.input] == ["x", "w"]
