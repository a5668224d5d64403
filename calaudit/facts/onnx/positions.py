"""Whether ``position_ids`` reach the rotary embedding of every layer's queries and keys.

Looked for in the graph, layer by layer, from ``present_key_i`` backwards. The *rotation* of a value is a product (or a
RotaryEmbedding node) with something whose angle comes from ``position_ids``: a row of a constant table gathered by
position, or Cos and Sin computed from it. What is proved for the keys and the queries of a layer:

1. a cosine-like and a sine-like factor of ``position_ids`` take part in making it;
2. no path leads from the projection that makes it (a product with a constant weight) around the rotation.

What is not proved: that the tables hold the right angles. The logits at positions up to max-1 say that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.onnx.export import SourceShape
from calaudit.facts.onnx.flow import Flow, Op
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.kv import key_names
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.model import Location

POSITIONS = "position_ids"
_PRODUCTS = frozenset({"MatMul", "Gemm", "Conv", "Einsum", "MatMulInteger", "QLinearMatMul", "MatMulNBits"})
LAYOUT = frozenset(
    {"Unsqueeze", "Squeeze", "Expand", "Reshape", "Transpose", "Tile", "Concat", "Slice", "Cast", "Identity", "Flatten"}
)
_ANGLES = frozenset({"Cos", "Sin"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPositions:
    """What is known of one layer; ``broken`` says what is wrong, ``unknown`` what was not recognised."""

    layer: int
    broken: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxPositions:
    """The walk's result for each layer of the source's architecture."""

    name: ClassVar[str] = "onnx_positions"

    reached: bool
    rotations: int
    layers: tuple[LayerPositions, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Walk the graph; MissingFact where it is not sound or hides behind functions."""
        graph = facts.get(OnnxGraph)
        place = Location(path=graph.path)
        if not facts.get(OnnxStructure).sound:
            raise MissingFact(f"{graph.path} is not a sound graph; see onnx-invalid.", at=place)
        if graph.functions:
            told = f"{graph.path} has model-local functions; calaudit follows positions only without them."
            raise MissingFact(told, at=place)
        walk = _Walk(graph.flow)
        layers = tuple(
            walk.layer(i, *key_names(i, graph.inputs, graph.outputs)) for i in range(facts.get(SourceShape).layers)
        )
        return cls(
            reached=bool(layers) and not any(found.broken or found.unknown for found in layers),
            rotations=len(walk.rotations),
            layers=layers,
        )


class _Walk:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.fed = _fed(flow)
        self.factors = {op.makes[0]: _family(op) for op in flow.ops if op.makes and self._is_factor(op)}
        plain = self._plain(self.factors)
        self.rotations = {
            op.index: {f for name in op.reads for f in plain.get(name, ())}
            for op in flow.ops
            if op.kind == "Mul" and any(name in plain for name in op.reads)
        }
        for op in flow.ops:
            if op.kind == "RotaryEmbedding" and any(self._from_positions(name) for name in op.reads):
                self.rotations[op.index] = {"cos", "sin"}

    def layer(self, layer: int, past: str, present: str) -> LayerPositions:
        if present not in self.flow.maker:
            return LayerPositions(layer=layer, broken=(f"{present} is no value of the graph",), unknown=())
        maker = self.flow.maker[present]
        fused = maker.kind == "Attention" and len(maker.reads) > 1
        broken = list(self._judge(maker.reads[1] if fused else present, "key", past))
        unknown: list[str] = []
        queries = [maker.reads[0]] if fused else self._queries(present, past)
        if not queries:
            unknown.append(f"no product of queries with {present} was recognised")
        for query in queries:
            broken += self._judge(query, "query", past)
        return LayerPositions(layer=layer, broken=tuple(broken), unknown=tuple(unknown))

    def _judge(self, value: str, what: str, past: str) -> Iterator[str]:
        cone = self.flow.back(value, self._is_projection)
        crossed = [self.flow.maker[name] for name in cone if name in self.flow.maker]
        found = {f for op in crossed for f in self.rotations.get(op.index, ())}
        if not found:
            yield f"the {what} {value!r} is made without position_ids"
            return
        if len(found) == 1:
            yield f"the {what} {value!r} is multiplied with one factor of position_ids only ({found.pop()})"
        around = self.flow.back(value, lambda op: self._is_projection(op) or op.index in self.rotations)
        for name in sorted(around - {past}):
            op = self.flow.maker.get(name)
            if op is not None and self._is_projection(op):
                yield f"the {what} {value!r} takes {name!r} from {op.title} around the rotation"
                return

    def _queries(self, present: str, past: str) -> list[str]:
        """The other operand wherever this key, by layout and scaling alone, enters a product."""
        cached = self.flow.forward([past], lambda op: op.kind not in LAYOUT) - {past}
        start = cached & self.flow.back(present, lambda op: op.kind not in LAYOUT)
        seen, pending, found = set(start), list(start), []
        while pending:
            name = pending.pop()
            for op in self.flow.readers.get(name, ()):
                others = [r for r in op.reads[:2] if r != name and r not in self.flow.constants]
                if op.kind in ("MatMul", "Einsum") and others:
                    found += [other for other in others if other not in seen]
                elif op.kind == "Attention" and name in op.reads[1:2]:
                    found.append(op.reads[0])
                elif op.kind in LAYOUT or (op.kind in ("Mul", "Div") and not others):
                    pending += [out for out in op.makes if out not in seen]
                    seen.update(op.makes)
        return found

    def _is_projection(self, op: Op) -> bool:
        return op.kind in _PRODUCTS and any(name in self.flow.constants for name in op.reads)

    def _is_factor(self, op: Op) -> bool:
        if op.kind == "Gather":
            return op.reads[0] in self.flow.constants and self._from_positions(op.reads[1])
        return op.kind in _ANGLES and self._from_positions(op.reads[0])

    def _from_positions(self, name: str) -> bool:
        """Made from position_ids, constants and shapes alone: no token and no hidden state takes part."""
        return self.fed.get(name, frozenset()) == {POSITIONS}

    def _plain(self, factors: dict[str, str]) -> dict[str, set[str]]:
        """Factors and what layout, casts and constant scaling make of them."""
        plain = {name: {family} for name, family in factors.items()}
        for op in self.flow.ops:
            sources = [name for name in op.reads if name in plain]
            others = [n for n in op.reads if n and n not in plain and n not in self.flow.constants]
            if sources and not others and (op.kind in LAYOUT or op.kind == "Mul"):
                for out in op.makes:
                    plain.setdefault(out, set()).update(f for s in sources for f in plain[s])
        return plain


def _fed(flow: Flow) -> dict[str, frozenset[str]]:
    """What every value is made from, in one pass: position_ids, and ``*`` for any other input; a shape from nothing."""
    fed = {name: frozenset({POSITIONS if name == POSITIONS else "*"}) for name in flow.inputs}
    for op in flow.ops:
        made = frozenset[str]()
        if op.kind != "Shape":
            made = made.union(*(fed.get(name, frozenset()) for name in op.reads))
        fed.update(dict.fromkeys(op.makes, made))
    return fed


def _family(op: Op) -> str:
    """What tells a cosine from a sine: the function, or the table that is gathered from."""
    return op.kind.lower() if op.kind in _ANGLES else op.reads[0]
