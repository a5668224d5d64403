"""Edits of the good port's graph, by name: a case table says ``graph = "<function>"``.

An edit takes the model (external data not loaded) and changes it; one with a second parameter gets the folder
``02-onnx`` too. Afterwards the op inventory is written anew, so that only what an edit is about fires; an edit named in
``KEEPS_INVENTORY`` leaves it alone.
"""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.external_data_helper import load_external_data_for_model

KEEPS_INVENTORY = frozenset({"add_identity_silently"})
KEY, VALUE = (f"model.layers.0.self_attn.{n}_proj.weight" for n in "kv")
QUERY, GATE = "model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.gate_proj.weight"


def apply(port: Path, name: str) -> None:
    """Apply one edit to ``02-onnx/model.onnx`` of a port."""
    edit: Callable[..., None] = globals()[name]
    path = port / "02-onnx" / "model.onnx"
    model = onnx.load_model(str(path), load_external_data=False)
    edit(*[model, path.parent][: len(inspect.signature(edit).parameters)])
    path.write_bytes(model.SerializeToString())
    if name not in KEEPS_INVENTORY:
        from calaudit.harness.documents import write_json
        from calaudit.harness.onnx_ops import op_inventory

        write_json(path.with_name("op-inventory.json"), op_inventory(path))


def tensor(model: ModelProto, name: str) -> TensorProto:
    return next(t for t in model.graph.initializer if t.name == name)


def node(model: ModelProto, output: str) -> NodeProto:
    return next(n for n in model.graph.node if output in n.output)


def entry(t: TensorProto, key: str, value: str | None = None) -> str:
    """Read, or set and read, one external-data entry."""
    found = next((e for e in t.external_data if e.key == key), None)
    if found is None:
        found = t.external_data.add(key=key)
    if value is not None:
        found.value = value
    return found.value


def _relink(model: ModelProto, old: str, new: str, reader: str) -> None:
    """Let the node that makes ``reader`` read ``new`` instead of ``old``."""
    target = node(model, reader)
    target.input[:] = [new if name == old else name for name in target.input]


# --- structure -------------------------------------------------------------------------------------------------------


def define_twice(model: ModelProto) -> None:
    model.graph.node.append(helper.make_node("Identity", ["norm"], ["embedding"], name="/again"))


def use_before_definition(model: ModelProto) -> None:
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))


def read_undefined(model: ModelProto) -> None:
    _relink(model, "norm", "norn", "norm.last")


def output_from_nothing(model: ModelProto) -> None:
    model.graph.output.append(helper.make_tensor_value_info("extra", TensorProto.FLOAT, [1]))


def import_twice(model: ModelProto) -> None:
    model.opset_import.append(helper.make_opsetid("ai.onnx", 17))


def types_disagree(model: ModelProto) -> None:
    model.graph.node.append(helper.make_node("Add", ["input_ids", "embedding"], ["sum"], name="/sum"))


def truncated_inline(model: ModelProto) -> None:
    weights = tensor(model, "model.norm.weight")
    weights.raw_data = weights.raw_data[:-4]


def inline_and_external(model: ModelProto) -> None:
    tensor(model, KEY).raw_data = b"\0" * 4


def external_key_twice(model: ModelProto) -> None:
    tensor(model, KEY).external_data.add(key="offset", value="0")


def negative_inline_dim(model: ModelProto) -> None:
    tensor(model, "model.norm.weight").dims[0] = -128


def overflowing_dims(model: ModelProto) -> None:
    tensor(model, "model.norm.weight").dims[:] = [2**62, 2**62, 2**62]


def external_constant(model: ModelProto) -> None:
    value = TensorProto()
    value.CopyFrom(tensor(model, KEY))
    value.name = "hidden"
    model.graph.node.append(helper.make_node("Constant", [], ["hidden"], name="/hidden", value=value))


def name_not_utf8(model: ModelProto) -> None:
    made = helper.make_node("Identity", ["norm"], ["NAME"], name="/odd")
    raw = made.SerializeToString().replace(b"NAME", b"\xff\xfe\xfd\xfc")
    odd = NodeProto()
    odd.ParseFromString(raw)
    model.graph.node.append(odd)


# --- external data ---------------------------------------------------------------------------------------------------


def inline_all(model: ModelProto, folder: Path) -> None:
    load_external_data_for_model(model, str(folder))
    for t in model.graph.initializer:
        t.data_location = TensorProto.DEFAULT
    (folder / "model.onnx.data").unlink()


def inline_all_keep_file(model: ModelProto, folder: Path) -> None:
    load_external_data_for_model(model, str(folder))
    for t in model.graph.initializer:
        t.data_location = TensorProto.DEFAULT


def location_missing(model: ModelProto) -> None:
    entry(tensor(model, KEY), "location", "weights.bin")


def location_empty(model: ModelProto) -> None:
    entry(tensor(model, KEY), "location", "")


def location_document(model: ModelProto) -> None:
    entry(tensor(model, KEY), "location", "onnx-report.json")


def location_parent(model: ModelProto) -> None:
    entry(tensor(model, KEY), "location", "../00-source/weights/model.safetensors")


def location_round_trip(model: ModelProto) -> None:
    entry(tensor(model, KEY), "location", "./model.onnx.data")


def location_absolute(model: ModelProto) -> None:
    entry(tensor(model, KEY), "location", "/etc/passwd")


def location_backslash(model: ModelProto) -> None:
    entry(tensor(model, KEY), "location", "..\\secret.bin")


def basepath(model: ModelProto) -> None:
    entry(tensor(model, KEY), "basepath", "..")


def offset_beyond(model: ModelProto) -> None:
    entry(tensor(model, KEY), "offset", "999999999")


def offset_negative(model: ModelProto) -> None:
    entry(tensor(model, KEY), "offset", "-4")


def offset_unicode(model: ModelProto) -> None:
    entry(tensor(model, KEY), "offset", "\u0664\u0660\u0669\u0666")


def length_short(model: ModelProto) -> None:
    t = tensor(model, KEY)
    entry(t, "length", str(int(entry(t, "length")) - 4))


def dims_negative(model: ModelProto) -> None:
    t = tensor(model, KEY)
    t.dims[:] = [-t.dims[0], -t.dims[1]]


def dims_larger(model: ModelProto) -> None:
    tensor(model, KEY).dims[0] *= 2


def overlap(model: ModelProto) -> None:
    t = tensor(model, VALUE)
    entry(t, "offset", str(int(entry(t, "offset")) - 4))


def overlap_inside(model: ModelProto) -> None:
    """A small tensor stands inside a large one."""
    entry(tensor(model, KEY), "offset", entry(tensor(model, GATE), "offset"))


def tie(model: ModelProto) -> None:
    """Two tensors of one shape share one extent, as tied weights do."""
    entry(tensor(model, VALUE), "offset", entry(tensor(model, KEY), "offset"))


def swap_extents(model: ModelProto) -> None:
    """Keys and values of layer 0 change places: every extent is sound by itself."""
    key, value = tensor(model, KEY), tensor(model, VALUE)
    left, right = entry(key, "offset"), entry(value, "offset")
    entry(key, "offset", right)
    entry(value, "offset", left)


def checksum_of_tensor(model: ModelProto, folder: Path) -> None:
    t = tensor(model, KEY)
    start, length = int(entry(t, "offset")), int(entry(t, "length"))
    data = (folder / "model.onnx.data").read_bytes()[start : start + length]
    entry(t, "checksum", hashlib.sha1(data, usedforsecurity=False).hexdigest())


def checksum_of_file(model: ModelProto, folder: Path) -> None:
    data = (folder / "model.onnx.data").read_bytes()
    entry(tensor(model, KEY), "checksum", hashlib.sha1(data, usedforsecurity=False).hexdigest())


def checksum_wrong(model: ModelProto) -> None:
    entry(tensor(model, KEY), "checksum", "00" * 20)


def checksum_malformed(model: ModelProto) -> None:
    entry(tensor(model, KEY), "checksum", "sha1:abc")


# --- values ----------------------------------------------------------------------------------------------------------


def nan_inline(model: ModelProto) -> None:
    t = tensor(model, "model.norm.weight")
    t.raw_data = np.float32("nan").tobytes() + t.raw_data[4:]


def infinite_mask(model: ModelProto) -> None:
    """A single value may be infinite."""
    tensor(model, "attention.masked").CopyFrom(numpy_helper.from_array(np.float32("-inf"), "attention.masked"))


def nan_scalar(model: ModelProto) -> None:
    tensor(model, "attention.masked").CopyFrom(numpy_helper.from_array(np.float32("nan"), "attention.masked"))


def _unused(model: ModelProto, data_type: int, patterns: list[int]) -> None:
    model.graph.initializer.add(name="unused", data_type=data_type, dims=[len(patterns)], int32_data=patterns)


def nan_float16(model: ModelProto) -> None:
    _unused(model, TensorProto.FLOAT16, [0x3C00, 0x7E00])


def infinite_bfloat16(model: ModelProto) -> None:
    _unused(model, TensorProto.BFLOAT16, [0x3F80, 0x7F80])


def nan_float8(model: ModelProto) -> None:
    _unused(model, TensorProto.FLOAT8E4M3FN, [0x38, 0x7F])


# --- operators -------------------------------------------------------------------------------------------------------


def custom_domain(model: ModelProto) -> None:
    model.graph.node.append(helper.make_node("Fast", ["norm"], ["fast"], name="/fast", domain="com.example"))


def add_identity_silently(model: ModelProto) -> None:
    model.graph.node.append(helper.make_node("Identity", ["norm"], ["same"], name="/same"))


def unknown_to_vendor(model: ModelProto) -> None:
    model.graph.node.append(helper.make_node("Erf", ["norm"], ["erf"], name="/erf"))


def older_opset(model: ModelProto) -> None:
    model.opset_import[0].version = 19


# --- signature, caches, positions ------------------------------------------------------------------------------------


def drop_cache_output(model: ModelProto) -> None:
    kept = [v for v in model.graph.output if v.name != "present_key_3"]
    del model.graph.output[:]
    model.graph.output.extend(kept)


def forget_past(model: ModelProto) -> None:
    """The new values alone are given back as the cache of layer 0."""
    target = node(model, "present_value_0")
    del target.input[0]


def static_length(model: ModelProto) -> None:
    for value in model.graph.input[:2]:
        value.type.tensor_type.shape.dim[1].dim_value = 16


def extra_input(model: ModelProto) -> None:
    model.graph.input.append(helper.make_tensor_value_info("attention_mask", TensorProto.INT64, [1, "S"]))


def rename_logits(model: ModelProto) -> None:
    node(model, "logits").output[0] = "scores"
    model.graph.output[0].name = "scores"


def every_position(model: ModelProto) -> None:
    """Logits of every position, not of the last one."""
    _relink(model, "norm.last", "norm", "logits")
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_param = "T"


def fold_positions(model: ModelProto) -> None:
    """The positions of the example input became a constant."""
    model.graph.initializer.append(numpy_helper.from_array(np.zeros((1, 1), np.int64), "folded"))
    for table in ("rope.cosine_rows", "rope.sine_rows"):
        _relink(model, "position_ids", "folded", table)


def bypass_key_rotation(model: ModelProto) -> None:
    _relink(model, "layers.0.attention.k.heads.rotated", "layers.0.attention.k.heads", "present_key_0")


def bypass_query_rotation(model: ModelProto) -> None:
    _relink(model, "layers.2.attention.q.heads.rotated", "layers.2.attention.q.heads", "layers.2.attention.products")


def half_bypass(model: ModelProto) -> None:
    """Half of each key goes around the rotation."""
    _relink(
        model,
        "layers.1.attention.k.heads.new_low",
        "layers.1.attention.k.heads.low",
        "layers.1.attention.k.heads.rotated",
    )


def cosine_for_sine(model: ModelProto) -> None:
    _relink(model, "rope.sine_table", "rope.cosine_table", "rope.sine_rows")


def unknown_attention(model: ModelProto) -> None:
    """Queries and keys meet in an operator that calaudit does not know."""
    node(model, "layers.0.attention.products").domain = "com.example"
    node(model, "layers.0.attention.products").op_type = "Score"
    model.opset_import.append(helper.make_opsetid("com.example", 1))


# --- forgeries -------------------------------------------------------------------------------------------------------


def _reroute(model: ModelProto, old: str, new: str) -> None:
    """Let every node read ``new`` instead of ``old``."""
    for target in model.graph.node:
        target.input[:] = [new if name == old else name for name in target.input]


def ignore_tokens(model: ModelProto) -> None:
    """The embedding is always that of one token."""
    model.graph.initializer.append(numpy_helper.from_array(np.array([[5]], np.int64), "one.token"))
    _relink(model, "input_ids", "one.token", "embedding")


def give_back_past_values(model: ModelProto) -> None:
    """The value cache of layer 0 never grows; attention still sees the new values."""
    node(model, "present_value_0").output[0] = "kept"
    _reroute(model, "present_value_0", "kept")
    model.graph.node.append(helper.make_node("Identity", ["past_value_0"], ["present_value_0"], name="/same"))


def use_length_of_past_only(model: ModelProto) -> None:
    """Attention of layer 0 sees the new values only; of the past it takes the length."""
    _relink(model, "present_value_0", "layers.0.attention.v.heads", "layers.0.attention.values.apart")
    _relink(model, "past_key_0", "past_value_0", "mask.past")


def draw_at_random(model: ModelProto) -> None:
    node(model, "logits").output[0] = "certain"
    model.graph.node.append(helper.make_node("RandomNormalLike", ["certain"], ["noise"], name="/noise"))
    model.graph.node.append(helper.make_node("Add", ["certain", "noise"], ["logits"], name="/noisy"))


def keep_training(model: ModelProto) -> None:
    node(model, "logits").output[0] = "whole"
    model.graph.initializer.append(numpy_helper.from_array(np.float32(0.5), "ratio"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones((), np.bool_), "training"))
    model.graph.node.append(helper.make_node("Dropout", ["whole", "ratio", "training"], ["logits"], name="/dropout"))


def drop_nothing(model: ModelProto) -> None:
    """Dropout as an exporter leaves it in evaluation mode."""
    node(model, "logits").output[0] = "whole"
    model.graph.node.append(helper.make_node("Dropout", ["whole"], ["logits"], name="/dropout"))


def unknown_head(model: ModelProto) -> None:
    """An operator of a domain that is imported, and that nobody knows."""
    node(model, "logits").domain = "com.example"
    node(model, "logits").op_type = "Lookup"
    model.opset_import.append(helper.make_opsetid("com.example", 1))


def rename_weights(model: ModelProto) -> None:
    """Exporters give weights numbers for names."""
    for number, t in enumerate(model.graph.initializer):
        if t.name.endswith("_proj.weight"):
            _reroute(model, t.name, f"onnx::MatMul_{number}")
            t.name = f"onnx::MatMul_{number}"


def hide_other_weights(model: ModelProto) -> None:
    """The gate of layer 0 is multiplied with other weights; its own stand beside, and nothing needs them."""
    model.graph.initializer.append(numpy_helper.from_array(np.full((128, 256), 0.01, np.float32), "other"))
    _reroute(model, GATE, "other")


def double_shapes(model: ModelProto) -> None:
    """Each Concat doubles the value of a shape: inference would compute 2**40 numbers."""
    model.graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), "doubled.0"))
    for n in range(40):
        model.graph.node.append(helper.make_node("Concat", [f"doubled.{n}"] * 2, [f"doubled.{n + 1}"], axis=0))
    model.graph.node.append(helper.make_node("Reshape", ["norm", "doubled.40"], ["flat"]))


def nest_functions(model: ModelProto) -> None:
    """Each function calls the one before it twice: written out these are 2**30 nodes."""
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)]
    model.opset_import.append(imports[1])
    same = helper.make_node("Identity", ["x"], ["y"])
    model.functions.append(helper.make_function("local", "F0", ["x"], ["y"], [same], imports))
    for n in range(1, 31):
        twice = [helper.make_node(f"F{n - 1}", [a], [b], domain="local") for a, b in ("xz", "zy")]
        model.functions.append(helper.make_function("local", f"F{n}", ["x"], ["y"], twice, imports))
    model.graph.node.append(helper.make_node("F30", ["norm"], ["far"], domain="local"))


def secret_in_metadata(model: ModelProto) -> None:
    model.metadata_props.add(key="token", value="glpat-aaaaaaaaaabbbbbbbbbb")
