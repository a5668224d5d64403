"""The decoder as one ONNX graph, authored with ``onnx.helper``: prefill and decode are the same graph.

Inputs are ``input_ids`` and ``position_ids``, ``[1, T]``, and per layer ``past_key_i`` and ``past_value_i``,
``[1, K, P, D]``. Outputs are the ``logits`` of the last token, ``[1, 1, V]``, and per layer ``present_key_i`` and
``present_value_i``, ``[1, K, S, D]`` with S = P + T. The causal mask is computed inside: a query at position p sees the
keys 0 … p. Weights are stored ``[in, out]``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from examples.toolchain.checkpoint import Array, Config, rope_tables

__all__ = ["IR_VERSION", "decoder_graph"]

IR_VERSION = 10
MASKED = -1e9
"""Score of a key that a query must not see; finite, because an infinity among the constants is an error to vendors."""


@dataclass
class Builder:
    """Nodes, constants, inputs and outputs on their way to a graph; a value is known by its name."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)

    def op(self, op_type: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add a node with one output; the node is named after it."""
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=f"/{output}", **attributes))
        return output

    def constant(self, name: str, values: "NDArray[np.float32] | NDArray[np.int64]") -> str:
        """Add a constant once."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def ints(self, *values: int) -> str:
        """A vector of integers, for shapes and axes."""
        name = "ints." + ".".join(str(v) for v in values)
        return self.constant(name, np.array(values, np.int64))

    def scalar(self, name: str, value: float) -> str:
        """A float32 scalar."""
        return self.constant(name, np.array(value, np.float32))

    def input(self, name: str, dtype: int, shape: Sequence[int | str]) -> str:
        """Declare a graph input."""
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name: str, shape: Sequence[int | str]) -> None:
        """Declare a float32 graph output."""
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))


def decoder_graph(config: Config, weights: Mapping[str, Array], opset: int) -> onnx.ModelProto:
    """The whole model, with its weights inside."""
    graph = _Decoder(config, weights)
    graph.build()
    made = graph.b
    return helper.make_model(
        helper.make_graph(made.nodes, "decoder", made.inputs, made.outputs, list(made.constants.values())),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=IR_VERSION,
        producer_name="calaudit-example-toolchain",
        producer_version="1",
    )


class _Decoder:
    def __init__(self, config: Config, weights: Mapping[str, Array]) -> None:
        self.config = config
        self.weights = weights
        self.b = Builder()

    def build(self) -> None:
        b, config = self.b, self.config
        b.input("input_ids", TensorProto.INT64, [1, "T"])
        b.input("position_ids", TensorProto.INT64, [1, "T"])
        for layer in range(config.layers):
            for kind in ("key", "value"):
                b.input(f"past_{kind}_{layer}", TensorProto.FLOAT, [1, config.kv_heads, "P", config.head_dim])
        b.output("logits", [1, 1, config.vocab])
        self._rotation()
        self._mask()
        x = b.op("Gather", [self._vector("model.embed_tokens.weight"), "input_ids"], "embedding")
        for layer in range(config.layers):
            x = self._layer(layer, x)
            for kind in ("key", "value"):
                b.output(f"present_{kind}_{layer}", [1, config.kv_heads, "S", config.head_dim])
        x = self._rms_norm(x, "model.norm.weight", "norm")
        last = b.op("Slice", [x, b.ints(-1), b.ints(2**63 - 1), b.ints(1)], "norm.last")
        self._linear(last, "lm_head.weight", "logits")

    def _rotation(self) -> None:
        """``rope.cosine`` and ``rope.sine`` of the given positions, ``[1, 1, T, D / 2]``."""
        b = self.b
        for name, table in zip(("cosine", "sine"), rope_tables(self.config), strict=True):
            rows = b.op("Gather", [b.constant(f"rope.{name}_table", table), "position_ids"], f"rope.{name}_rows")
            b.op("Unsqueeze", [rows, b.ints(1)], f"rope.{name}")

    def _mask(self) -> None:
        """``mask.visible``, ``[1, 1, T, S]``: whether a query's position reaches a key's."""
        b = self.b
        past = b.op("Shape", ["past_key_0"], "mask.past", start=2, end=3)
        new = b.op("Shape", ["input_ids"], "mask.new", start=1, end=2)
        total = b.op("Squeeze", [b.op("Add", [past, new], "mask.total_vector"), b.ints(0)], "mask.total")
        zero, one = (b.constant(f"int.{n}", np.array(n, np.int64)) for n in (0, 1))
        keys = b.op("Range", [zero, total, one], "mask.key_positions")
        queries = b.op("Unsqueeze", ["position_ids", b.ints(1, 3)], "mask.query_positions")
        b.op("LessOrEqual", [keys, queries], "mask.visible")

    def _layer(self, layer: int, x: str) -> str:
        b, prefix, weights = self.b, f"layers.{layer}", f"model.layers.{layer}"
        normed = self._rms_norm(x, f"{weights}.input_layernorm.weight", f"{prefix}.input_norm")
        x = b.op("Add", [x, self._attention(layer, normed)], f"{prefix}.attention_residual")
        normed = self._rms_norm(x, f"{weights}.post_attention_layernorm.weight", f"{prefix}.post_norm")
        return b.op("Add", [x, self._feed_forward(layer, normed)], f"{prefix}.output")

    def _attention(self, layer: int, x: str) -> str:
        b, config, prefix = self.b, self.config, f"layers.{layer}.attention"
        heads = {"q": config.heads, "k": config.kv_heads, "v": config.kv_heads}
        query, key, value = (
            self._heads(self._linear(x, f"model.layers.{layer}.self_attn.{n}_proj.weight", f"{prefix}.{n}"), h)
            for n, h in heads.items()
        )
        key = b.op("Concat", [f"past_key_{layer}", self._rotate(key)], f"present_key_{layer}", axis=2)
        value = b.op("Concat", [f"past_value_{layer}", value], f"present_value_{layer}", axis=2)
        keys = b.op("Transpose", [self._repeat(key, f"{prefix}.keys")], f"{prefix}.keys_t", perm=[0, 1, 3, 2])
        scores = b.op("MatMul", [self._rotate(query), keys], f"{prefix}.products")
        scores = b.op("Mul", [scores, b.scalar("attention.scale", 1 / np.sqrt(config.head_dim))], f"{prefix}.scores")
        masked = b.op("Where", ["mask.visible", scores, b.scalar("attention.masked", MASKED)], f"{prefix}.masked")
        weight = b.op("Softmax", [masked], f"{prefix}.weights", axis=-1)
        out = b.op("MatMul", [weight, self._repeat(value, f"{prefix}.values")], f"{prefix}.mixed")
        out = b.op("Transpose", [out], f"{prefix}.mixed_t", perm=[0, 2, 1, 3])
        out = b.op("Reshape", [out, b.ints(1, -1, config.heads * config.head_dim)], f"{prefix}.joined")
        return self._linear(out, f"model.layers.{layer}.self_attn.o_proj.weight", f"{prefix}.output")

    def _feed_forward(self, layer: int, x: str) -> str:
        b, prefix, weights = self.b, f"layers.{layer}.mlp", f"model.layers.{layer}.mlp"
        gate = self._linear(x, f"{weights}.gate_proj.weight", f"{prefix}.gate")
        silu = b.op("Mul", [gate, b.op("Sigmoid", [gate], f"{prefix}.sigmoid")], f"{prefix}.silu")
        up = self._linear(x, f"{weights}.up_proj.weight", f"{prefix}.up")
        return self._linear(b.op("Mul", [silu, up], f"{prefix}.gated"), f"{weights}.down_proj.weight", f"{prefix}.down")

    def _rms_norm(self, x: str, weight: str, name: str) -> str:
        b = self.b
        mean = b.op("ReduceMean", [b.op("Mul", [x, x], f"{name}.square"), b.ints(-1)], f"{name}.mean", keepdims=1)
        shifted = b.op("Add", [mean, b.scalar("norm.epsilon", self.config.epsilon)], f"{name}.shifted")
        unit = b.op("Div", [x, b.op("Sqrt", [shifted], f"{name}.root")], f"{name}.unit")
        return b.op("Mul", [unit, self._vector(weight)], name)

    def _rotate(self, x: str) -> str:
        b, half, full = self.b, self.config.head_dim // 2, self.config.head_dim
        low = b.op("Slice", [x, b.ints(0), b.ints(half), b.ints(3)], f"{x}.low")
        high = b.op("Slice", [x, b.ints(half), b.ints(full), b.ints(3)], f"{x}.high")

        def term(a: str, table: str, name: str) -> str:
            return b.op("Mul", [a, f"rope.{table}"], f"{x}.{name}")

        new_low = b.op("Sub", [term(low, "cosine", "low_cos"), term(high, "sine", "high_sin")], f"{x}.new_low")
        new_high = b.op("Add", [term(high, "cosine", "high_cos"), term(low, "sine", "low_sin")], f"{x}.new_high")
        return b.op("Concat", [new_low, new_high], f"{x}.rotated", axis=3)

    def _heads(self, x: str, heads: int) -> str:
        b = self.b
        split = b.op("Reshape", [x, b.ints(1, -1, heads, self.config.head_dim)], f"{x}.split")
        return b.op("Transpose", [split], f"{x}.heads", perm=[0, 2, 1, 3])

    def _repeat(self, x: str, name: str) -> str:
        """Give every query head its own copy of the key/value head it shares."""
        b, config = self.b, self.config
        group = config.heads // config.kv_heads
        apart = b.op("Unsqueeze", [x, b.ints(2)], f"{name}.apart")
        copies = b.op("Expand", [apart, b.ints(1, 1, group, 1, 1)], f"{name}.copies")
        return b.op("Reshape", [copies, b.ints(1, config.heads, -1, config.head_dim)], name)

    def _linear(self, x: str, weight: str, output: str) -> str:
        return self.b.op("MatMul", [x, self.b.constant(weight, self.weights[weight].T)], output)

    def _vector(self, weight: str) -> str:
        return self.b.constant(weight, self.weights[weight])
