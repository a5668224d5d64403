"""Edits of the good port's graph, by name: a case table says ``graph = "<function>"``.

An edit takes the model (external data not loaded) and changes it; one with a second parameter gets the folder
``02-onnx`` too. Afterwards the op inventory is written anew, so that only what an edit is about fires; an edit named in
``KEEPS_INVENTORY`` leaves it alone.
"""

import hashlib
import inspect
import json
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


def add_in_double(model: ModelProto) -> None:
    model.graph.initializer.append(numpy_helper.from_array(np.ones(4, "<f8"), "double"))
    model.graph.node.append(helper.make_node("Add", ["double", "double"], ["doubled"], name="/double"))


def add_inside_if(model: ModelProto) -> None:
    """Each branch of an If adds in double precision."""
    model.graph.initializer.append(numpy_helper.from_array(np.ones((), np.bool_), "always"))
    branches = {}
    for name in ("then", "else"):
        out = helper.make_tensor_value_info(f"{name}.sum", TensorProto.DOUBLE, [4])
        one = numpy_helper.from_array(np.ones(4, "<f8"), f"{name}.one")
        same = helper.make_node("Identity", [one.name], [f"{name}.same"], name="/same")
        twice = helper.make_node("Add", [f"{name}.same"] * 2, [f"{name}.sum"], name="/twice")
        branches[f"{name}_branch"] = helper.make_graph([same, twice], name, [], [out], [one])
    model.graph.node.append(helper.make_node("If", ["always"], ["sum"], name="/if", **branches))


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


def replaceable_weights(model: ModelProto) -> None:
    """Two weights are inputs too: their values are defaults."""
    for name in (QUERY, "model.norm.weight"):
        t = tensor(model, name)
        model.graph.input.append(helper.make_tensor_value_info(name, t.data_type, list(t.dims)))


def replaceable_weights_of_old(model: ModelProto) -> None:
    """Before IR version 4 every initializer had to be an input."""
    model.ir_version = 3
    for t in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)))


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


def _store(model: ModelProto, name: str, values: object) -> None:
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))


def _before(model: ModelProto, output: str, *nodes: NodeProto) -> None:
    """Put nodes in front of the one that makes ``output``."""
    at = list(model.graph.node).index(node(model, output))
    for made in reversed(nodes):
        model.graph.node.insert(at, made)


def _gate_from(model: ModelProto, *nodes: NodeProto) -> None:
    """The gate of layer 0 is what these nodes make as ``gate``."""
    node(model, "layers.0.mlp.gate").input[1] = "gate"
    _before(model, "layers.0.mlp.gate", *nodes)


OTHER = np.full((128, 256), 0.01, np.float32)


def choose_other_weights(model: ModelProto) -> None:
    """Other weights come into play where the last token is a rare one."""
    _store(model, "other", OTHER)
    _store(model, "rare", np.array([[1023]], np.int64))
    ends = ["ints.-1", "ints.9223372036854775807", "ints.1"]
    _gate_from(
        model,
        helper.make_node("Slice", ["input_ids", *ends], ["last.token"], name="/last"),
        helper.make_node("LessOrEqual", ["rare", "last.token"], ["is.rare"], name="/rare"),
        helper.make_node("Where", ["is.rare", "other", GATE], ["gate"], name="/choose"),
    )


def choose_among_own_weights(model: ModelProto) -> None:
    """A rare token gets the way up for a gate."""
    choose_other_weights(model)
    node(model, "gate").input[1] = GATE.replace("gate", "up")


def leave_out_by_token(model: ModelProto) -> None:
    """What the gate makes of a rare token is replaced."""
    _store(model, "rare", np.array([[1023]], np.int64))
    _store(model, "nothing", np.float32(0))
    node(model, "layers.0.mlp.gate").output[0] = "gated"
    at = list(model.graph.node).index(node(model, "gated")) + 1
    model.graph.node.insert(
        at, helper.make_node("Where", ["rows", "nothing", "gated"], ["layers.0.mlp.gate"], name="/c")
    )
    model.graph.node.insert(at, helper.make_node("Unsqueeze", ["is.rare", "ints.-1"], ["rows"], name="/b"))
    model.graph.node.insert(at, helper.make_node("LessOrEqual", ["rare", "input_ids"], ["is.rare"], name="/a"))


def leave_out_by_position(model: ModelProto) -> None:
    """What the gate makes of a token is replaced from some position on."""
    leave_out_by_token(model)
    node(model, "is.rare").input[1] = "position_ids"


def choose_by_constant(model: ModelProto) -> None:
    """A Where whose condition is stored: the source's embedding is in the branch never taken."""
    embedding = node(model, "embedding").input[0]
    _store(model, "other", np.ones((1024, 128), np.float32))
    _store(model, "never", np.zeros((), np.bool_))
    node(model, "embedding").input[0] = "embeddings"
    _before(model, "embedding", helper.make_node("Where", ["never", embedding, "other"], ["embeddings"], name="/w"))


def choose_by_if(model: ModelProto) -> None:
    """The other weights belong to the branch of an If."""
    _store(model, "never", np.zeros((), np.bool_))
    kept = helper.make_node("Identity", [GATE], ["then.gate"])
    other = numpy_helper.from_array(OTHER, "hidden")
    out = [helper.make_tensor_value_info(f"{n}.gate", TensorProto.FLOAT, [128, 256]) for n in ("then", "else")]
    given = helper.make_node("Identity", ["hidden"], ["else.gate"])
    branches = {
        "then_branch": helper.make_graph([kept], "then", [], out[:1]),
        "else_branch": helper.make_graph([given], "else", [], out[1:], [other]),
    }
    _gate_from(model, helper.make_node("If", ["never"], ["gate"], name="/if", **branches))


def pieces_in_branch(model: ModelProto) -> None:
    """A branch of an If puts a row of other weights together from pieces of two values."""
    _store(model, "never", np.zeros((), np.bool_))
    _store(model, "sides", np.array([128, 256], np.int64))
    pieces = [numpy_helper.from_array(np.array([[n, 0.01]], np.float32), f"piece.{n}") for n in range(128)]
    out = [helper.make_tensor_value_info(f"{n}.gate", TensorProto.FLOAT, [128, 256]) for n in ("then", "else")]
    row = helper.make_node("Concat", [p.name for p in pieces], ["row"], axis=1)
    rows = helper.make_node("Expand", ["row", "sides"], ["else.gate"])
    branches = {
        "then_branch": helper.make_graph([helper.make_node("Identity", [GATE], ["then.gate"])], "then", [], out[:1]),
        "else_branch": helper.make_graph([row, rows], "else", [], out[1:], pieces),
    }
    _gate_from(model, helper.make_node("If", ["never"], ["gate"], name="/if", **branches))


def choose_by_computed_constant(model: ModelProto) -> None:
    """What a stored number is compared with decides, always in the same way, that the gate counts for nothing."""
    _store(model, "nothing", np.float32(0))
    node(model, "layers.0.mlp.gate").output[0] = "gated"
    at = list(model.graph.node).index(node(model, "gated")) + 1
    model.graph.node.insert(
        at, helper.make_node("Where", ["always", "nothing", "gated"], ["layers.0.mlp.gate"], name="/c")
    )
    model.graph.node.insert(at, helper.make_node("LessOrEqual", ["int.0", "int.0"], ["always"], name="/a"))


def weights_in_function(model: ModelProto) -> None:
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)]
    body = helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(OTHER, "v"))
    model.functions.append(helper.make_function("local", "Gate", [], ["y"], [body], imports[:1]))
    model.opset_import.append(imports[1])
    _gate_from(model, helper.make_node("Gate", [], ["gate"], name="/gate", domain="local"))


def weights_in_constant(model: ModelProto) -> None:
    value = numpy_helper.from_array(OTHER, "v")
    _gate_from(model, helper.make_node("Constant", [], ["gate"], name="/constant", value=value))


def weights_in_list(model: ModelProto) -> None:
    """The values stand in an attribute as a list of numbers, not as a tensor."""
    _store(model, "sides", np.array([128, 256], np.int64))
    _gate_from(
        model,
        helper.make_node("Constant", [], ["listed"], name="/listed", value_floats=OTHER.ravel().tolist()),
        helper.make_node("Reshape", ["listed", "sides"], ["gate"], name="/shaped"),
    )


def weights_in_half(model: ModelProto) -> None:
    _store(model, "other", OTHER.astype(np.float16))
    _gate_from(model, helper.make_node("Cast", ["other"], ["gate"], name="/cast", to=TensorProto.FLOAT))


def weights_quantised(model: ModelProto) -> None:
    _store(model, "quantised", np.ones((128, 256), np.int8))
    _store(model, "step", np.float32(0.01))
    _gate_from(model, helper.make_node("DequantizeLinear", ["quantised", "step"], ["gate"], name="/dequantise"))


def weights_sparse(model: ModelProto) -> None:
    values = helper.make_tensor("other", TensorProto.FLOAT, [3], [0.1, 0.2, 0.3])
    places = helper.make_tensor("places", TensorProto.INT64, [3], [1, 5, 9])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [128, 256]))
    _reroute(model, GATE, "other")


def weights_in_pieces(model: ModelProto) -> None:
    """128 tensors of two values each are one row of weights, which is then repeated."""
    for n in range(128):
        _store(model, f"piece.{n}", np.array([[n, 0.01]], np.float32))
    _store(model, "sides", np.array([128, 256], np.int64))
    _gate_from(
        model,
        helper.make_node("Concat", [f"piece.{n}" for n in range(128)], ["row"], name="/row", axis=1),
        helper.make_node("Expand", ["row", "sides"], ["gate"], name="/rows"),
    )


def shape_of_weights_only(model: ModelProto) -> None:
    _store(model, "other", OTHER.reshape(-1))
    _gate_from(
        model,
        helper.make_node("Shape", [GATE], ["sides"], name="/sides"),
        helper.make_node("Reshape", ["other", "sides"], ["gate"], name="/shaped"),
    )


def add_to_logits(model: ModelProto) -> None:
    node(model, "logits").output[0] = "plain"
    _store(model, "bias", np.linspace(-9, 9, 1024, dtype=np.float32).reshape(1, 1, 1024))
    model.graph.node.append(helper.make_node("Add", ["plain", "bias"], ["logits"], name="/bias"))


def logits_times_zero(model: ModelProto) -> None:
    add_to_logits(model)
    _store(model, "zero", np.float32(0))
    node(model, "logits").input[0] = "gone"
    _before(model, "logits", helper.make_node("Mul", ["plain", "zero"], ["gone"], name="/zero"))


def scale_logits_by_position(model: ModelProto) -> None:
    """A table that is gathered by position, and multiplied with what is no query and no key."""
    node(model, "logits").output[0] = "plain"
    _store(model, "table", np.ones((2048, 1024), np.float32))
    model.graph.node.append(helper.make_node("Gather", ["table", "position_ids"], ["row"], name="/row"))
    model.graph.node.append(helper.make_node("Mul", ["plain", "row"], ["many"], name="/scaled"))
    _store(model, "axis", np.array([1], np.int64))
    model.graph.node.append(helper.make_node("ReduceMean", ["many", "axis"], ["logits"], name="/mean"))


def rotate_values(model: ModelProto) -> None:
    """The values of layer 0 are multiplied with a table that is gathered by position; the cache keeps the others."""
    _store(model, "table", np.ones((2048, 32), np.float32))
    node(model, "layers.0.attention.mixed").input[1] = "turned"
    _before(
        model,
        "layers.0.attention.mixed",
        helper.make_node("Gather", ["table", "position_ids"], ["row"], name="/row"),
        helper.make_node("Mul", ["layers.0.attention.values", "row"], ["turned"], name="/turned"),
    )


def scale_queries(model: ModelProto) -> None:
    """The queries of layer 0 are scaled as no tensor of the source says, before they are rotated."""
    _store(model, "scale", np.ones(32, np.float32))
    node(model, "layers.0.attention.q.heads").output[0] = "unscaled"
    at = list(model.graph.node).index(node(model, "unscaled")) + 1
    model.graph.node.insert(
        at, helper.make_node("Mul", ["unscaled", "scale"], ["layers.0.attention.q.heads"], name="/scaled")
    )


def compute_angles(model: ModelProto) -> None:
    """Cosines and sines are computed from stored frequencies, as exporters of PyTorch leave them."""
    angles = 10000.0 ** -(np.arange(32) % 16 / 16)
    _store(model, "frequencies", angles.astype(np.float32).reshape(1, 1, 32))
    _store(model, "half", np.array([16], np.int64))
    first = node(model, "rope.cosine_rows")
    at = list(model.graph.node).index(first)
    for name in ("rope.cosine", "rope.sine"):
        model.graph.node.remove(node(model, f"{name}_rows"))
    made = [
        helper.make_node("Cast", ["position_ids"], ["places"], name="/places", to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["places", "ints.-1"], ["places.column"], name="/column"),
        helper.make_node("Mul", ["places.column", "frequencies"], ["angles"], name="/angles"),
        helper.make_node("Slice", ["angles", "ints.0", "half", "ints.2"], ["angles.half"], name="/half"),
        helper.make_node("Cos", ["angles.half"], ["rope.cosine_rows"], name="/cos"),
        helper.make_node("Sin", ["angles.half"], ["rope.sine_rows"], name="/sin"),
    ]
    for one in reversed(made):
        model.graph.node.insert(at, one)


def guard_against_nan(model: ModelProto) -> None:
    """Exporters of PyTorch replace the NaN that a Softmax makes of a row in which everything is masked."""
    node(model, "layers.0.attention.weights").output[0] = "bare"
    _store(model, "nothing", np.float32(0))
    _before(
        model,
        "layers.0.attention.mixed",
        helper.make_node("IsNaN", ["bare"], ["is.nan"], name="/nan"),
        helper.make_node("Where", ["is.nan", "nothing", "bare"], ["layers.0.attention.weights"], name="/guard"),
    )


def _norm_of_source(folder: Path, dtype: str, convert: Callable[[np.ndarray], np.ndarray]) -> None:
    """Store the source's last norm as another type."""
    path = folder.parent / "00-source" / "weights" / "model.safetensors"
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header, data = json.loads(raw[8:start]), b""
    for name, stored in header.items():
        if name == "__metadata__":
            continue
        begin, end = stored["data_offsets"]
        values = raw[start + begin : start + end]
        if name == "model.norm.weight":
            values = convert((np.frombuffer(values, "<u2").astype("<u4") << 16).view("<f4")).tobytes()
            stored["dtype"] = dtype
        stored["data_offsets"] = [len(data), len(data) + len(values)]
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def source_in_double(_: ModelProto, folder: Path) -> None:
    _norm_of_source(folder, "F64", lambda values: values.astype("<f8"))


def source_in_double_and_other_norm(model: ModelProto, folder: Path) -> None:
    source_in_double(model, folder)
    tensor(model, "model.norm.weight").CopyFrom(numpy_helper.from_array(np.full(128, 7, "<f4"), "model.norm.weight"))


def source_between_floats(_: ModelProto, folder: Path) -> None:
    """The source has values that no float32 is."""
    _norm_of_source(folder, "F64", lambda values: values.astype("<f8") + 1e-12)


def source_in_eight_bits(_: ModelProto, folder: Path) -> None:
    _norm_of_source(folder, "F8_E4M3", lambda values: values.astype("u1"))


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
