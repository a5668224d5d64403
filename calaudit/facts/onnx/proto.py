"""Reading ``model.onnx``: from bytes to a protobuf message without touching another file, and walking what it holds.

External data are never loaded here. The parser refuses what would exhaust memory (a tiny message takes a hundred
times its bytes once parsed) and nesting beyond protobuf's limit of 100 messages (33 subgraphs), so walking may
recurse by attribute without a limit of its own; it does not recurse anyway.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calaudit.errors import Malformed
from calaudit.facts.onnx.scan import Scan, scan_model

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

MODEL = "02-onnx/model.onnx"

MODEL_BYTES_MAX = (1 << 31) - 1
"""Protobuf's own limit for one message."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One list of nodes: the main graph, a subgraph of an attribute, or a function body.

    ``where`` says which in words; ``depth`` is 0 for the main graph and for function bodies.
    """

    where: str
    depth: int
    graph: "GraphProto | None"
    function: "FunctionProto | None"

    @property
    def nodes(self) -> "Iterable[NodeProto]":
        """The nodes, in their order."""
        body = self.graph if self.graph is not None else self.function
        return () if body is None else iter(body.node)


def parse_model(data: bytes) -> "ModelProto":
    """Parse the bytes of a model.

    Raises:
        Malformed: they are no ONNX model, or parsing them would need absurd amounts of memory.
    """
    return read_model(data)[0]


def read_model(data: bytes) -> "tuple[ModelProto, Scan]":
    """Parse the bytes of a model, as :func:`parse_model` does, and say what the scan before it saw."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy
    from onnx import ModelProto  # noqa: PLC0415 - heavy

    if len(data) > MODEL_BYTES_MAX:
        raise Malformed(f"The model has {len(data)} bytes; a protobuf has fewer than 2 GiB: export with external data.")
    scan = scan_model(data)  # refuses what would take too much memory
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, RecursionError) as error:
        raise Malformed(f"The bytes are not an ONNX protobuf: {error}") from error
    if not model.HasField("graph"):
        raise Malformed("The protobuf holds no graph: this is not an ONNX model.")
    return model, scan


def text(value: str | bytes) -> str:
    """A protobuf string as text: bytes that are not UTF-8 (which protobuf hands out as such) are escaped."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


def scopes(model: "ModelProto") -> Iterator[Scope]:
    """Every list of nodes of a model: the main graph, functions, and the subgraphs of either."""
    pending = [Scope("the graph", 0, model.graph, None)]
    pending += [Scope(f"function {text(f.domain)}.{text(f.name)}", 0, None, f) for f in model.functions]
    for training in model.training_info:
        pending += [Scope("training", 0, graph, None) for graph in (training.initialization, training.algorithm)]
    pending.reverse()
    while pending:
        scope = pending.pop()
        yield scope
        for node in scope.nodes:
            for attribute in node.attribute:
                for graph in subgraphs(attribute):
                    where = f"{text(attribute.name)} of {text(node.op_type)} {text(node.name)!r} in {scope.where}"
                    pending.append(Scope(where[:200], scope.depth + 1, graph, None))


def subgraphs(attribute: "AttributeProto") -> Iterator["GraphProto"]:
    """The graphs an attribute holds, whatever its declared type."""
    if attribute.HasField("g"):
        yield attribute.g
    yield from attribute.graphs


def tensors(scope: Scope) -> Iterator[tuple[str, "TensorProto"]]:
    """Every tensor of one scope with what it is: initializers, sparse parts, and attribute values of its nodes."""
    if scope.graph is not None:
        for tensor in scope.graph.initializer:
            yield "initializer", tensor
        for sparse in scope.graph.sparse_initializer:
            yield "sparse", sparse.values
            yield "sparse", sparse.indices
    for node in scope.nodes:
        for attribute in node.attribute:
            yield from attribute_tensors(attribute)


def attribute_tensors(attribute: "AttributeProto") -> Iterator[tuple[str, "TensorProto"]]:
    """The tensors an attribute holds, whatever its declared type."""
    if attribute.HasField("t"):
        yield "attribute", attribute.t
    for tensor in attribute.tensors:
        yield "attribute", tensor
    for sparse in [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []:
        yield "sparse", sparse.values
        yield "sparse", sparse.indices
    for sparse in attribute.sparse_tensors:
        yield "sparse", sparse.values
        yield "sparse", sparse.indices
