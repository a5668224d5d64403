"""Whether the graph is a graph: every value defined once and before its use, every domain imported.

The rules are those of the ONNX specification (IR.md, "Graphs" and "Operator sets"). They are checked here before any
native code sees the model.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.facts import Facts, internal
from calaudit.facts.onnx.graph import OnnxGraph, canonical_domain
from calaudit.facts.onnx.proto import scopes, subgraphs, text

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

Outer = tuple[AbstractSet[str], ...]
"""The names of the scopes around a subgraph, as they stand when it is met."""

PROBLEMS_MAX = 100
"""Structural problems that are listed; a garbled graph has one at every node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxStructure:
    """What is wrong with names, order and imports, in sentences; empty for a sound graph."""

    name: ClassVar[str] = "onnx_structure"

    sound: bool
    problems: tuple[str, ...] = internal()
    undeclared: tuple[tuple[str, str, int], ...] = internal()
    """Domains that nodes use and nobody imports: domain, where, how many nodes."""

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Look at every scope of the model; MissingFact where there is no readable model."""
        model = facts.get(OnnxGraph).model
        problems = tuple(p for p, _ in zip(structural_problems(model), range(PROBLEMS_MAX), strict=False))
        undeclared = tuple(undeclared_domains(model))
        return cls(sound=not problems and not undeclared, problems=problems, undeclared=undeclared)


def structural_problems(model: "ModelProto") -> Iterator[str]:
    """Everything wrong with names, order and opset imports, one sentence each; lazily."""
    if model.ir_version < 1:
        yield "The model says no ir_version."
    yield from _imports(model.opset_import, "The model")
    if not model.graph.node:
        yield "The graph has no node."
    if not model.graph.output:
        yield "The graph has no output."
    yield from _graph(model.graph, (), "the graph")
    for function in model.functions:
        where = f"function {text(function.domain)}.{text(function.name)}"
        yield from _imports(function.opset_import, f"The {where}")
        yield from _function(function, where)
    keys = Counter((f.domain, f.name, f.overload) for f in model.functions)
    for (domain, name, _), count in keys.items():
        if count > 1:
            yield f"The function {text(domain)}.{text(name)} is defined {count} times."


def undeclared_domains(model: "ModelProto") -> Iterator[tuple[str, str, int]]:
    """Domains that nodes use without an opset import in force there."""
    declared = {canonical_domain(o.domain) for o in model.opset_import}
    for scope in scopes(model):
        known = declared
        if scope.function is not None:
            known = {canonical_domain(o.domain) for o in scope.function.opset_import} or declared
        # A function's imports hold for the subgraphs inside it too; those inherit both here, the checker is exact.
        used = Counter(canonical_domain(node.domain) for node in scope.nodes)
        for domain, count in sorted(used.items()):
            if domain not in known and not (scope.depth and _in_functions(model, domain)):
                yield domain, scope.where, count
    for function in model.functions:
        if canonical_domain(function.domain) not in declared:
            yield canonical_domain(function.domain), f"function {text(function.name)}", 1


def _in_functions(model: "ModelProto", domain: str) -> bool:
    return any(domain == canonical_domain(o.domain) for f in model.functions for o in f.opset_import)


def _imports(opsets: Iterable[object], who: str) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for opset in opsets:
        domain = canonical_domain(getattr(opset, "domain"))  # noqa: B009 - OperatorSetIdProto, imported nowhere here
        seen[domain] += 1
        if getattr(opset, "version") < 1:  # noqa: B009 - see above
            yield f"{who} imports the domain {domain or 'ai.onnx'!r} without a version."
    for domain, count in seen.items():
        if count > 1:
            yield f"{who} imports the domain {domain or 'ai.onnx'!r} {count} times: two readings of one operator."
    if not seen:
        yield f"{who} imports no opset."


def _graph(graph: "GraphProto", outer: Outer, where: str) -> Iterator[str]:
    inputs = [value.name for value in graph.input]
    yield from _twice(inputs, "input", where)
    initializers = [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
    yield from _twice(initializers, "initializer", where)
    for name in {*inputs, *initializers}:
        if not name:
            yield f"An input or initializer of {where} has no name."
        elif _taken(name, outer):
            yield f"The name {text(name)!r} of {where} is already taken in the graph around it."
    defined = {*inputs, *initializers}
    yield from _nodes(graph.node, defined, outer, where)
    outputs = [value.name for value in graph.output]
    yield from _twice(outputs, "output", where)
    for name in outputs:
        if name not in defined and not _taken(name, outer):
            yield f"The output {text(name)!r} of {where} is produced by nothing."


def _function(function: "FunctionProto", where: str) -> Iterator[str]:
    yield from _twice(list(function.input), "input", where)
    yield from _twice(list(function.output), "output", where)
    defined: set[str] = set(function.input)
    yield from _nodes(function.node, defined, (), where)
    for name in function.output:
        if name not in defined:
            yield f"The output {text(name)!r} of {where} is produced by nothing."


def _nodes(nodes: "Iterable[NodeProto]", defined: set[str], outer: Outer, where: str) -> Iterator[str]:
    for index, node in enumerate(nodes):
        for name in filter(None, node.input):
            if name not in defined and not _taken(name, outer):
                yield f"{_title(node, index, where)} reads {text(name)!r}, which nothing before it defines."
        for attribute in node.attribute:
            for graph in subgraphs(attribute):
                inside = f"the subgraph {text(attribute.name)!r} of {_title(node, index, where)}"
                yield from _graph(graph, (*outer, defined), inside[:300])
        if not node.op_type:
            yield f"{_title(node, index, where)} has no op_type."
        for name in filter(None, node.output):
            if isinstance(name, bytes):
                yield f"{_title(node, index, where)} defines {text(name)!r}, which is not UTF-8."
            elif name in defined or _taken(name, outer):
                yield f"{_title(node, index, where)} defines {text(name)!r} a second time."
            defined.add(name)


def _taken(name: str, outer: Outer) -> bool:
    return any(name in names for names in outer)


def _title(node: "NodeProto", index: int, where: str) -> str:
    return f"Node {index} ({text(node.op_type)} {text(node.name)[:80]!r}) of {where}"


def _twice(names: list[str], what: str, where: str) -> Iterator[str]:
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{where[:1].upper()}{where[1:]} has {count} {what}s called {text(name)!r}."
