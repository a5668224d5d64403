"""What the graph adds under the roots of its norms: attributes of norm operators, and constants beside a mean.

A norm that is written out adds a constant to a ReduceMean and takes the root of the sum. One that is written in another
way is not found.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts
from calaudit.facts.onnx.flow import Flow, Op
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import text
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.types import count_values
from calaudit.facts.onnx.values import inline_bytes
from calaudit.facts.onnx.weights import storage_problem
from calaudit.model import Location

if TYPE_CHECKING:
    from onnx import GraphProto, TensorProto

_NORMS = frozenset({"LayerNormalization", "RMSNormalization"})
_DEFAULT = 1e-5
"""The epsilon of both where they name none."""
_ROOTS = frozenset({"Sqrt", "Pow", "Rsqrt"})
_FLOAT32 = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxEpsilons:
    """Every epsilon of a norm of the main graph that was found, each value once."""

    name: ClassVar[str] = "onnx_epsilons"

    epsilons: tuple[float, ...]

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Look for norms; MissingFact where the graph is not sound."""
        graph = facts.get(OnnxGraph)
        if not facts.get(OnnxStructure).sound:
            raise MissingFact(f"{graph.path} is not a sound graph; see onnx-invalid.", at=Location(path=graph.path))
        found = {*_attributes(graph.model.graph), *_constants(graph.model.graph, graph.flow)}
        return cls(epsilons=tuple(sorted(found)))


def _attributes(graph: "GraphProto") -> Iterator[float]:
    for node in graph.node:
        if text(node.op_type) in _NORMS:
            stated = [attribute.f for attribute in node.attribute if text(attribute.name) == "epsilon"]
            yield stated[0] if stated else _DEFAULT


def _constants(graph: "GraphProto", flow: Flow) -> Iterator[float]:
    tensors = {text(tensor.name): tensor for tensor in graph.initializer}
    for node in graph.node:
        if text(node.op_type) == "Constant" and node.output:
            tensors |= {text(node.output[0]): a.t for a in node.attribute if text(a.name) == "value"}
    for op in flow.ops:
        if op.kind == "Add" and any(
            reader.kind in _ROOTS for name in op.makes for reader in flow.readers.get(name, ())
        ):
            for name in op.reads:
                if name in tensors and _beside_a_mean(op, name, flow):
                    yield from _scalar(tensors[name])


def _beside_a_mean(op: Op, constant: str, flow: Flow) -> bool:
    others = [flow.maker[name] for name in op.reads if name != constant and name in flow.maker]
    return any(other.kind == "ReduceMean" for other in others)


def _scalar(tensor: "TensorProto") -> Iterator[float]:
    import numpy as np  # noqa: PLC0415 - heavy

    if tensor.data_type == _FLOAT32 and count_values(tuple(tensor.dims)) == 1 and storage_problem(tensor) is None:
        data = inline_bytes(tensor)
        if len(data) == 4:
            yield float(np.frombuffer(data, "<f4")[0])
