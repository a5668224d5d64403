"""Reading hostile model bytes: never a crash, never another file, never absurd memory."""

import contextlib
from collections import Counter

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from calaudit.errors import Malformed
from calaudit.facts.onnx.graph import Inventory, Operator, canonical_domain, take_inventory
from calaudit.facts.onnx.proto import parse_model, scopes, text
from calaudit.facts.onnx.scan import scan_model
from calaudit.facts.onnx.structure import structural_problems, undeclared_domains
from calaudit.facts.onnx.values import nan_attributes
from calaudit.facts.onnx.weights import external_tensor, storage_problem, stored_tensors


def field(number: int, data: bytes) -> bytes:
    size, out = len(data), bytes([number << 3 | 2])
    while size > 127:
        out += bytes([size & 127 | 128])
        size >>= 7
    return out + bytes([size]) + data


def nested(depth: int) -> bytes:
    graph = b""
    for _ in range(depth):
        graph = field(1, field(5, field(6, graph)))  # graph.node.attribute.g
    return field(7, graph)


def inventory(model: onnx.ModelProto) -> Inventory:
    return take_inventory(scan_model(model.SerializeToString()))


def agree(model: onnx.ModelProto) -> None:
    """The scan and protobuf's own parser read one model."""
    counts = Counter((canonical_domain(n.domain), text(n.op_type)) for scope in scopes(model) for n in scope.nodes)
    found = inventory(model)
    assert found.operators == tuple(Operator(domain=d, op_type=o, count=c) for (d, o), c in sorted(counts.items()))
    assert (found.ir_version, found.functions) == (model.ir_version, len(model.functions))
    assert found.opsets == tuple((canonical_domain(o.domain), o.version) for o in model.opset_import)
    external = [external_tensor(s) for s in stored_tensors(model) if s.external]
    scanned = scan_model(model.SerializeToString())
    assert sorted((t.name, t.dtype, t.dims, t.entries) for t in scanned.external) == sorted(
        (t.name, t.dtype, t.dims, t.entries) for t in external
    )
    assert scanned.tensors == len(list(stored_tensors(model)))


def look(model: onnx.ModelProto) -> None:
    """Everything that reads a model before native code may; the scan of its bytes must have seen the same."""
    agree(model)
    list(zip(structural_problems(model), range(50), strict=False))
    list(undeclared_domains(model))
    nan_attributes(model)
    for stored in stored_tensors(model):
        storage_problem(stored.proto)
        external_tensor(stored)
        assert stored.title


@pytest.mark.parametrize("depth", [34, 1000, 20000])
def test_deep_nesting_is_malformed(depth: int) -> None:
    with pytest.raises(Malformed, match="not an ONNX protobuf"):
        parse_model(nested(depth))


def test_nesting_that_protobuf_takes() -> None:
    model = parse_model(nested(30))
    assert inventory(model).subgraphs == 30
    look(model)


@pytest.mark.parametrize("data", [b"", b"\0", b"not a model", b"\x08\x0a", b"\x3a\xff\xff\xff\xff\x0f", b"\xff" * 99])
def test_what_is_no_model(data: bytes) -> None:
    with pytest.raises(Malformed):
        parse_model(data)


def test_a_bomb_is_refused_before_it_is_parsed() -> None:
    bomb = field(7, b"\x0a\x00" * (9 << 20))
    with pytest.raises(Malformed, match="more than"):
        parse_model(bomb)


def test_counting_skips_raw_data() -> None:
    weights = numpy_helper.from_array(__import__("numpy").zeros(10000, "f4"), "w")
    graph = helper.make_graph([helper.make_node("Neg", ["w"], ["y"])], "g", [], [], [weights])
    assert scan_model(helper.make_model(graph).SerializeToString(), limit=100).messages < 10


@given(st.binary(max_size=300))
@settings(max_examples=200)
def test_random_bytes_never_crash(data: bytes) -> None:
    for raw in (data, field(7, data)):
        with contextlib.suppress(Malformed):
            scan_model(raw, limit=1000)
        try:
            model = parse_model(raw)
        except Malformed:
            continue
        look(model)


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_a_changed_byte_never_crashes(at: int, value: int) -> None:
    body = helper.make_graph([helper.make_node("Neg", ["x"], ["z"])], "body", [], [_value("z")])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)]
    graph = helper.make_graph(nodes, "g", [_value("x"), _value("c")], [_value("y")], [_external()])
    data = bytearray(helper.make_model(graph).SerializeToString())
    data[at % len(data)] = value
    try:
        model = parse_model(bytes(data))
    except Malformed:
        return
    look(model)


def _value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])


def _external() -> TensorProto:
    t = TensorProto(name="w", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
    t.external_data.add(key="location", value="a.data")
    return t


def test_strings_that_are_not_utf8() -> None:
    node = onnx.NodeProto()
    node.ParseFromString(field(1, b"\xff\xfe") + field(4, b"\xfd"))
    model = onnx.ModelProto()
    model.graph.node.append(node)
    look(parse_model(model.SerializeToString()))
    assert text(node.input[0]) == "\\xff\\xfe"


def test_hidden_operators_count() -> None:
    """A graph in an attribute that calls itself an integer is still walked."""
    node = helper.make_node("If", ["c"], ["y"])
    attribute = node.attribute.add(name="sneaky", type=onnx.AttributeProto.INT)
    attribute.g.node.add(op_type="Evil", domain="com.example")
    graph = helper.make_graph([node], "g", [_value("c")], [_value("y")])
    model = helper.make_model(graph)
    assert sorted(o.op_type for o in inventory(model).operators) == ["Evil", "If"]
    assert [d for d, _, _ in undeclared_domains(model)] == ["com.example"]
    assert len(list(scopes(model))) == 2


@pytest.mark.parametrize(
    ("tensor", "problem"),
    [
        (TensorProto(data_type=1, dims=[2], float_data=[1, 2]), None),
        (TensorProto(data_type=1, dims=[2], float_data=[1]), "entries in float_data"),
        (TensorProto(data_type=1, dims=[2], raw_data=b"12345678"), None),
        (TensorProto(data_type=1, dims=[2], raw_data=b"1234567"), "bytes of raw_data"),
        (TensorProto(data_type=1, dims=[2], raw_data=b"12345678", float_data=[1]), "two readings"),
        (TensorProto(data_type=1, dims=[2], int32_data=[1, 2]), "belongs into"),
        (TensorProto(data_type=1, dims=[-2], raw_data=b"12345678"), "negative dim"),
        (TensorProto(data_type=99, dims=[2]), "does not know"),
        (TensorProto(data_type=22, dims=[3], int32_data=[1, 2]), None),
        (TensorProto(data_type=22, dims=[3], raw_data=b"12"), None),
        (TensorProto(data_type=14, dims=[1], float_data=[1, 2]), None),
        (TensorProto(data_type=8, dims=[1], string_data=[b"x"]), None),
        (TensorProto(data_type=8, dims=[1], raw_data=b"x"), "bytes of raw_data"),
        (TensorProto(data_type=1, dims=[0]), None),
        (TensorProto(data_type=1, dims=[1]), "entries in float_data"),
        (TensorProto(data_type=1, dims=[1], segment=TensorProto.Segment(begin=0)), "segments"),
    ],
)
def test_storage(tensor: TensorProto, problem: str | None) -> None:
    found = storage_problem(tensor)
    assert (found is None) == (problem is None), found
    assert problem is None or problem in str(found)
