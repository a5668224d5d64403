"""Everything in the model that holds values: initializers, and what attributes hold, in any scope.

A weight need not be an initializer of the main graph. It may stand in a Constant node, in a branch of an If, in the
body of a function, or as a list of numbers in an attribute.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calaudit.facts.onnx.flow import Flow, Op
from calaudit.facts.onnx.graph import OnnxGraph, canonical_domain
from calaudit.facts.onnx.proto import attribute_tensors, subgraphs, text
from calaudit.facts.onnx.types import count_values
from calaudit.facts.onnx.values import inline_bytes
from calaudit.facts.onnx.weights import storage_problem

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

FEW = 16
"""Values that no weight has so few of: dims, axes, epsilons, factors."""

_FLOAT32, _BOOL = 1, 9
_EXTERNAL = 1
"""``TensorProto.DataLocation.EXTERNAL``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """Values that the model stores.

    ``enters`` are the values of the main graph by which they come in, ``count`` is how many there are, and ``digest``
    the SHA-256 of float32 values, None for those of any other type. ``plain`` says that it is an initializer or a
    Constant of the main graph: there alone a tensor of the source counts as found. ``uniform`` is False where every
    value is zero, True where each is true; None for all else.
    """

    name: str
    enters: tuple[str, ...]
    count: int
    digest: str | None = None
    plain: bool = False
    uniform: bool | None = None


def carriers(graph: OnnxGraph, external: dict[str, str]) -> Iterator[Carrier]:
    """Every carrier of a sound model; ``external`` has the digests of the main graph's external initializers."""
    main, flow = graph.model.graph, graph.flow
    for tensor in main.initializer:
        name = text(tensor.name)
        yield _carrier(tensor, name, (name,), digest=external.get(name), plain=True)
    for sparse in main.sparse_initializer:
        name = text(sparse.values.name)
        yield Carrier(name=name, enters=(name,), count=FEW + 1)  # how few it stores says nothing of how many it means
    for node, op in zip(main.node, flow.ops, strict=True):
        constant = op.kind == "Constant" and op.domain in ("", "ai.onnx")
        for attribute in node.attribute:
            yield from _attribute(
                attribute, op.makes, op.makes[0] if constant and op.makes else op.title, plain=constant
            )
    bodies = {(canonical_domain(f.domain), text(f.name)) for f in graph.model.functions}
    called = tuple(out for op in flow.ops if (canonical_domain(op.domain), op.kind) in bodies for out in op.makes)
    for function in graph.model.functions:  # one may call another: each counts as being called wherever one is
        for node in function.node:
            yield from _node(node, called, f"function {text(function.name)}")
        for attribute in function.attribute_proto:
            yield from _attribute(attribute, called, f"function {text(function.name)}", plain=False)


def _node(node: "NodeProto", enters: tuple[str, ...], where: str) -> Iterator[Carrier]:
    for attribute in node.attribute:
        yield from _attribute(attribute, enters, f"{text(node.op_type)} {text(node.name)!r} of {where}", plain=False)


def _attribute(attribute: "AttributeProto", enters: tuple[str, ...], name: str, *, plain: bool) -> Iterator[Carrier]:
    for tensor in attribute_tensors(attribute):
        yield _carrier(tensor[1], name, enters, plain=plain and tensor[0] == "attribute")
    if attribute.HasField("sparse_tensor") or attribute.sparse_tensors:
        yield Carrier(name=name, enters=enters, count=FEW + 1)
    for numbers in (attribute.floats, attribute.ints, attribute.strings):
        if len(numbers):
            yield Carrier(name=name, enters=enters, count=len(numbers))
    for graph in subgraphs(attribute):
        yield from _subgraph(graph, enters, f"{text(attribute.name)} of {name}")


def _subgraph(graph: "GraphProto", enters: tuple[str, ...], where: str) -> Iterator[Carrier]:
    for tensor in graph.initializer:
        yield _carrier(tensor, f"{text(tensor.name)} in {where}", enters)
    for sparse in graph.sparse_initializer:
        yield Carrier(name=f"{text(sparse.values.name)} in {where}", enters=enters, count=FEW + 1)
    for node in graph.node:
        yield from _node(node, enters, where)


def _carrier(
    proto: "TensorProto", name: str, enters: tuple[str, ...], *, digest: str | None = None, plain: bool = False
) -> Carrier:
    count = count_values(tuple(proto.dims))
    sound = count is not None and storage_problem(proto) is None
    float32, inline = proto.data_type == _FLOAT32, proto.data_location != _EXTERNAL
    if sound and float32 and inline:
        digest = hashlib.sha256(inline_bytes(proto)).hexdigest()
    return Carrier(
        name=name,
        enters=enters,
        count=FEW + 1 if count is None else count,
        digest=digest if sound and float32 else None,
        plain=plain,
        uniform=_uniform(proto) if sound and inline and count and proto.data_type in (_FLOAT32, _BOOL) else None,
    )


def _uniform(proto: "TensorProto") -> bool | None:
    import numpy as np  # noqa: PLC0415 - heavy

    values = np.frombuffer(inline_bytes(proto), "<f4" if proto.data_type == _FLOAT32 else "u1")
    if not values.any():
        return False
    return True if proto.data_type == _BOOL and values.all() else None


def assembled(flow: Flow, few: dict[str, int]) -> Iterator[Op]:
    """The nodes that put many values together from stored ones of which each tensor has few.

    ``few`` has the size of each such tensor. What is used twice counts twice.
    """
    counts = dict(few)
    for op in flow.ops:
        if not op.makes or not flow.constants.issuperset(op.makes) or op.kind in ("Shape", "Size"):
            continue
        total = sum(counts.get(name, 0) for name in op.reads) + sum(few.get(name, 0) for name in op.makes[:1])
        if total > FEW:
            yield op
            total = 0  # it was said once; what is made of it is no news
        counts.update(dict.fromkeys(op.makes, total))
