"""Walking the main graph by its values: who makes a value, who reads it, and what lies between two points.

What a node's subgraphs read from outside counts as read by the node.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calaudit.facts.onnx.proto import subgraphs, text

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One node. ``reads`` are its inputs in order (absent ones empty), then what its subgraphs take from outside."""

    index: int
    kind: str
    domain: str
    title: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The main graph. ``constants`` are initializers and what only depends on constants; ``inputs`` what is fed."""

    ops: tuple[Op, ...]
    maker: Mapping[str, Op]
    readers: Mapping[str, tuple[Op, ...]]
    inputs: frozenset[str]
    constants: frozenset[str]

    def back(self, start: str, stop: Callable[[Op], bool] = lambda _: False) -> set[str]:
        """Every value that ``start`` is made from, itself included; a node that ``stop`` holds is not crossed."""
        return self._spread([start], lambda name: self._sources(name, stop))

    def back_by(self, start: Iterable[str], reads: Callable[[Op], Iterable[str]]) -> set[str]:
        """Every value that any of ``start`` is made from, these included, where ``reads`` says what a node takes."""
        return self._spread(start, lambda name: reads(self.maker[name]) if name in self.maker else ())

    def forward(self, start: Iterable[str], stop: Callable[[Op], bool] = lambda _: False) -> set[str]:
        """Every value that is made from any of ``start``, these included; what ``stop`` holds is not crossed."""
        return self._spread(
            start, lambda name: [out for op in self.readers.get(name, ()) if not stop(op) for out in op.makes]
        )

    def _sources(self, name: str, stop: Callable[[Op], bool]) -> Iterable[str]:
        op = self.maker.get(name)
        return () if op is None or stop(op) else op.reads

    @staticmethod
    def _spread(start: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
        seen = set(start)
        pending = list(seen)
        while pending:
            for name in step(pending.pop()):
                if name and name not in seen:
                    seen.add(name)
                    pending.append(name)
        return seen


def read_flow(graph: "GraphProto") -> Flow:
    """The flow of a structurally sound graph."""
    constants = {text(t.name) for t in graph.initializer} | {text(s.values.name) for s in graph.sparse_initializer}
    inputs = frozenset(text(v.name) for v in graph.input) - constants
    ops, maker, readers = [], {}, defaultdict[str, list[Op]](list)
    for index, node in enumerate(graph.node):
        op = _op(node, index)
        ops.append(op)
        if all(name in constants for name in op.reads if name) and not is_random(op.kind):
            constants.update(op.makes)
        for name in op.makes:
            maker[name] = op
        for name in set(op.reads) - {""}:
            readers[name].append(op)
    return Flow(
        ops=tuple(ops),
        maker=maker,
        readers={name: tuple(found) for name, found in readers.items()},
        inputs=inputs,
        constants=frozenset(constants),
    )


def _op(node: "NodeProto", index: int) -> Op:
    kind, name = text(node.op_type), text(node.name)
    reads = [text(n) for n in node.input]
    for attribute in node.attribute:
        for graph in subgraphs(attribute):
            reads += sorted(_free(graph))
    return Op(
        index=index,
        kind=kind,
        domain=text(node.domain),
        title=f"{kind} {name!r}" if name else f"{kind} (node {index})",
        reads=tuple(reads),
        makes=tuple(text(n) for n in node.output if n),
    )


def _free(graph: "GraphProto") -> set[str]:
    """The names that a subgraph takes from outside."""
    own = {text(v.name) for v in graph.input} | {text(t.name) for t in graph.initializer}
    wanted = {text(v.name) for v in graph.output}
    for node in graph.node:
        wanted.update(text(n) for n in node.input if n)
        own.update(text(n) for n in node.output if n)
        for attribute in node.attribute:
            for inner in subgraphs(attribute):
                wanted |= _free(inner)
    return wanted - own


def is_random(kind: str) -> bool:
    """Whether an operator draws what it makes."""
    return kind.startswith("Random") or kind in ("Bernoulli", "Multinomial")
