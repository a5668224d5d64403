"""Following positions through graph forms other than the example's."""

import numpy as np
import pytest
from onnx import GraphProto, TensorProto, helper, numpy_helper

from calaudit.facts.onnx.flow import read_flow
from calaudit.facts.onnx.positions import LayerPositions, _Walk


def graph(nodes: list[tuple[str, str, str]], **weights: np.ndarray) -> GraphProto:
    """Nodes as (operator, inputs, outputs); everything fed is one of the usual inputs."""
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("position_ids", "x", "past_key_0")]
    made = [helper.make_node(op, ins.split(), outs.split()) for op, ins, outs in nodes]
    constants = [numpy_helper.from_array(v.astype("f4"), n) for n, v in weights.items()]
    return helper.make_graph(made, "g", inputs, [], constants)


def judge(nodes: list[tuple[str, str, str]]) -> LayerPositions:
    weights = {n: np.ones((2, 2)) for n in ("wq", "wk", "wv", "freq", "table", "half")}
    return _Walk(read_flow(graph(nodes, **weights))).layer(0, "past_key_0", "present_key_0")


PROJECTIONS = [("MatMul", "x wq", "q"), ("MatMul", "x wk", "k"), ("MatMul", "x wv", "v")]
ANGLES = [
    ("Cast", "position_ids", "p"),
    ("MatMul", "freq p", "f"),
    ("Concat", "f f", "e"),
    ("Cos", "e", "c"),
    ("Sin", "e", "s"),
    ("Mul", "c half", "cos"),
    ("Mul", "s half", "sin"),
]


def rotated(x: str) -> list[tuple[str, str, str]]:
    return [
        ("Mul", f"{x} cos", f"{x}c"),
        ("Neg", x, f"{x}n"),
        ("Concat", f"{x}n {x}", f"{x}h"),
        ("Mul", f"{x}h sin", f"{x}s"),
        ("Add", f"{x}c {x}s", f"{x}r"),
    ]


CACHE = [
    ("Concat", "past_key_0 kr", "present_key_0"),
    ("Transpose", "present_key_0", "kt"),
    ("MatMul", "qr kt", "scores"),
]


def test_cosines_computed_from_positions() -> None:
    found = judge([*PROJECTIONS, *ANGLES, *rotated("q"), *rotated("k"), *CACHE])
    assert (found.broken, found.unknown) == ((), ())


def test_a_rotary_embedding_node() -> None:
    rotary = [("RotaryEmbedding", f"{x} table table position_ids", f"{x}r") for x in "qk"]
    assert judge([*PROJECTIONS, *rotary, *CACHE]).broken == ()


def test_a_rotary_embedding_without_positions() -> None:
    rotary = [("RotaryEmbedding", f"{x} table table", f"{x}r") for x in "qk"]
    assert len(judge([*PROJECTIONS, *rotary, *CACHE]).broken) == 2


def test_an_attention_node() -> None:
    attention = [("Attention", "qr kr v mask past_key_0 v", "y present_key_0 present_value_0")]
    nodes = [*PROJECTIONS, *ANGLES, *rotated("q"), *rotated("k"), *attention]
    assert judge(nodes) == LayerPositions(layer=0, broken=(), unknown=())
    nodes[-1] = ("Attention", "q kr v mask past_key_0 v", "y present_key_0 present_value_0")
    assert len(judge(nodes).broken) == 1


@pytest.mark.parametrize("source", ["x", "half"])
def test_angles_that_do_not_come_from_positions(source: str) -> None:
    nodes = [*PROJECTIONS, ("Cast", source, "p"), *ANGLES[1:], *rotated("q"), *rotated("k"), *CACHE]
    assert len(judge(nodes).broken) == 2


def test_positions_mixed_with_hidden_states_are_no_positions() -> None:
    nodes = [*PROJECTIONS, ("Add", "position_ids x", "p"), *ANGLES[1:], *rotated("q"), *rotated("k"), *CACHE]
    assert len(judge(nodes).broken) == 2


def test_a_mask_from_positions_is_no_rotation() -> None:
    mask = [("Cast", "position_ids", "m"), ("Mul", "k m", "kr"), ("Mul", "q m", "qr")]
    assert len(judge([*PROJECTIONS, *mask, *CACHE]).broken) == 2


def test_a_bypass_beside_the_rotation() -> None:
    nodes = [*PROJECTIONS, *ANGLES, *rotated("q"), *rotated("k"), ("Add", "kr k", "kx")]
    found = judge([*nodes, ("Concat", "past_key_0 kx", "present_key_0"), *CACHE[1:]])
    assert len(found.broken) == 1
    assert "around the rotation" in found.broken[0]


def test_queries_that_are_not_found_are_unknown() -> None:
    assert judge([*PROJECTIONS, *ANGLES, *rotated("k"), CACHE[0]]).unknown != ()


def test_a_long_chain_is_walked_once() -> None:
    chain = [("Gather", f"table {'position_ids' if n == 0 else f'g{n}'}", f"g{n + 1}") for n in range(20000)]
    judge([*PROJECTIONS, *chain, *rotated("q")[:0], *CACHE[:1]])
