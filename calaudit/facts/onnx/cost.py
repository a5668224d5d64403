"""Whether native shape inference would come to an end: a few bytes can ask for more work than there is time.

Two things grow exponentially. Functions that call functions are inferred anew at each call; and the values of shapes,
which inference computes along, double with each Concat of a value with itself. Both are counted here, without doing the
work.
"""

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from calaudit.facts.onnx.graph import canonical_domain
from calaudit.facts.onnx.proto import subgraphs, text

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

NODES_MAX = 1_000_000
"""Nodes of a model once every call of a function is written out."""

SHAPE_MAX = 1 << 16
"""Numbers in the value of a shape; no tensor has more than a few dimensions."""

CALLS_MAX = 32
"""How deep functions may call each other."""

_INTEGERS = frozenset({6, 7})
_SOURCES = frozenset({"Constant", "Shape", "Size"})

_Key = tuple[str, str]


def too_costly(model: "ModelProto") -> str | None:
    """Why native inference is not asked; None where it may be."""
    cost = _Cost(model)
    if cost.count(model.graph.node, 0) > NODES_MAX:
        return f"its functions expand to more than {NODES_MAX} nodes, or call each other more than {CALLS_MAX} deep"
    if cost.longest(model.graph, model.graph.node) > SHAPE_MAX:
        return f"it computes shapes of more than {SHAPE_MAX} numbers"
    return None


class _Cost:
    def __init__(self, model: "ModelProto") -> None:
        self.functions: dict[_Key, FunctionProto] = {_key(f.domain, f.name): f for f in model.functions}
        self.nodes: dict[_Key, int] = {}
        self.growths: dict[_Key, int] = {}

    def count(self, nodes: "Iterable[NodeProto]", depth: int) -> int:
        """How many nodes there are with every call written out; more than the limit where functions nest too deep."""
        total = 0
        for node in _all(nodes):
            key = _key(node.domain, node.op_type)
            function = self.functions.get(key)
            if function is not None and key not in self.nodes:
                self.nodes[key] = NODES_MAX + 1  # also what a function that calls itself finds
                if depth < CALLS_MAX:
                    self.nodes[key] = self.count(function.node, depth + 1)
            total += 1 if function is None else self.nodes[key]
            if total > NODES_MAX:
                break
        return total

    def longest(self, graph: "GraphProto | None", nodes: "Iterable[NodeProto]", inputs: Iterable[str] = ()) -> int:
        """The most numbers that the value of a shape has; what goes into a function counts as one number."""
        known = dict.fromkeys(inputs, 1)
        for tensor in graph.initializer if graph is not None else ():
            if tensor.data_type in _INTEGERS:
                known[text(tensor.name)] = _numbers(tensor)
        for node in _all(nodes):
            found = self._length(node, known)
            if found is not None:
                known.update((text(name), found) for name in node.output)
                if found > SHAPE_MAX:
                    return found
        return max(known.values(), default=0)

    def _length(self, node: "NodeProto", known: dict[str, int]) -> int | None:
        """The length of what a node makes, where that is made from shapes and constants alone."""
        kind, lengths = text(node.op_type), [known.get(text(name)) for name in node.input if name]
        if kind in _SOURCES:
            return max((_numbers(a.t) for a in node.attribute if a.HasField("t")), default=64)
        known_lengths = [length for length in lengths if length is not None]
        if not lengths or len(known_lengths) < len(lengths):
            return None
        key = _key(node.domain, node.op_type)
        function = self.functions.get(key)
        if function is not None:
            if key not in self.growths:
                self.growths[key] = SHAPE_MAX + 1
                self.growths[key] = self.longest(None, function.node, map(text, function.input))
            return max(known_lengths) * self.growths[key]
        return sum(known_lengths) if kind == "Concat" else max(known_lengths)


def _all(nodes: "Iterable[NodeProto]") -> "Iterator[NodeProto]":
    """Nodes in their order, each followed by those of its subgraphs."""
    pending = [iter(nodes)]
    while pending:
        node = next(pending[-1], None)
        if node is None:
            pending.pop()
            continue
        yield node
        pending += [iter(graph.node) for attribute in node.attribute for graph in subgraphs(attribute)]


def _numbers(tensor: "TensorProto") -> int:
    return max(1, math.prod(tensor.dims)) if all(d >= 0 for d in tensor.dims) else 1


def _key(domain: str | bytes, name: str | bytes) -> _Key:
    return canonical_domain(domain), text(name)
