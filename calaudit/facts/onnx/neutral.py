"""A copy of the model that no native code can follow to another file: what the checker and shape inference are given.

``onnx.checker`` would resolve external data against the current directory when it is handed a message, and reads
whatever stands there. In the copy, external initializers and large inline ones are graph inputs of the same type and
shape, so nothing external is left and the copy is small; everything else is untouched. Their storage has been checked
by :mod:`calaudit.facts.onnx.extents` and :func:`calaudit.facts.onnx.weights.storage_problem` before.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from calaudit.errors import MissingFact
from calaudit.facts.onnx.proto import MODEL, scopes, tensors, text
from calaudit.model import Location

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

INLINE_MAX = 1 << 16
"""Bytes of raw data up to which an inline initializer stays: shape inference needs the small ones."""


def neutralise(model: "ModelProto") -> "ModelProto":
    """Copy a model without its external and large tensors.

    Raises:
        MissingFact: an external tensor stands inside an attribute, a subgraph or a function, where it cannot become an
            input of the graph.
    """
    from onnx import ModelProto  # noqa: PLC0415 - heavy

    _refuse_hidden_external(model)
    moved: list[TensorProto] = []
    kept: list[TensorProto] = []
    for tensor in model.graph.initializer:
        large = tensor.data_location == 1 or len(tensor.raw_data) > INLINE_MAX
        (moved if large else kept).append(tensor)
    copy = ModelProto()
    for field, value in model.ListFields():
        if field.name != "graph":
            _put(copy, field.name, value)
    for field, value in model.graph.ListFields():
        if field.name != "initializer":
            _put(copy.graph, field.name, value)
    copy.graph.initializer.extend(kept)
    _as_inputs(copy, moved)
    return copy


def _refuse_hidden_external(model: "ModelProto") -> None:
    for scope in scopes(model):
        for role, tensor in tensors(scope):
            if tensor.data_location == 1 and (role != "initializer" or scope.depth or scope.function is not None):
                raise MissingFact(
                    f"The external {role} {text(tensor.name)!r} stands in {scope.where}, where calaudit cannot check "
                    "the graph without loading it; export it as an initializer of the main graph or inline.",
                    at=Location(path=MODEL),
                )


def _as_inputs(copy: "ModelProto", moved: "Iterable[TensorProto]") -> None:
    known = {value.name for value in copy.graph.input}  # before IR version 4 an initializer is an input already
    for tensor in moved:
        if tensor.name in known:
            continue
        value = copy.graph.input.add()
        value.name = tensor.name
        value.type.tensor_type.elem_type = tensor.data_type
        value.type.tensor_type.shape.SetInParent()
        for dim in tensor.dims:
            value.type.tensor_type.shape.dim.add().dim_value = dim


def _put(message: object, name: str, value: object) -> None:
    if isinstance(value, str | int | float | bytes):
        setattr(message, name, value)
    elif hasattr(value, "extend"):
        getattr(message, name).extend(value)
    else:
        getattr(message, name).CopyFrom(value)
