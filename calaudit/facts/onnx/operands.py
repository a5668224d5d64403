"""With which element types each operator works: those that its schema leaves open.

A position that has one type only (a condition, a shape) or is an index (int32 or int64) says nothing of what an
operator computes with, and is left out; so are If, Loop and Scan, which compute nothing themselves.
"""

from collections import ChainMap, defaultdict
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from calaudit.facts.onnx.graph import canonical_domain
from calaudit.facts.onnx.proto import subgraphs, text
from calaudit.facts.onnx.types import type_name

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto
    from onnx.defs import OpSchema

_INDICES = frozenset({"tensor(int32)", "tensor(int64)"})
_CONTROL = frozenset({"If", "Loop", "Scan"})

Known = MutableMapping[str, str]
"""The element type of each value, by name."""


@dataclass(slots=True)
class Operands:
    """The element types that an operator works with, each with the first node that does; and nodes not known of."""

    types: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def read_operands(model: "ModelProto") -> dict[tuple[str, str], Operands]:
    """Domain and name of every operator of the main graph and its subgraphs, from a model with inferred types."""
    versions = {canonical_domain(o.domain): o.version for o in model.opset_import}
    found: defaultdict[tuple[str, str], Operands] = defaultdict(Operands)
    pending: list[tuple[GraphProto, list[Known]]] = [(model.graph, [])]
    while pending:
        graph, outer = pending.pop()
        known = ChainMap(_types(graph), *outer)
        for index, node in enumerate(graph.node):
            domain, kind = canonical_domain(node.domain), text(node.op_type)
            operands = found[domain, kind]
            if domain or kind not in _CONTROL:
                title = f"{kind} {text(node.name)!r}" if node.name else f"{kind} (node {index})"
                _note(operands, node, known, _schema(kind, versions.get(domain, 0), domain), title)
            pending += [(inner, known.maps) for attribute in node.attribute for inner in subgraphs(attribute)]
    return dict(found)


def _types(graph: "GraphProto") -> Known:
    known = {text(t.name): type_name(t.data_type) for t in graph.initializer}
    known |= {text(s.values.name): type_name(s.values.data_type) for s in graph.sparse_initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.type.WhichOneof("value") == "tensor_type" and value.type.tensor_type.elem_type:
            known[text(value.name)] = type_name(value.type.tensor_type.elem_type)
    return known


def _note(into: Operands, node: "NodeProto", known: Mapping[str, str], schema: "OpSchema | None", title: str) -> None:
    if schema is None:
        into.unknown.append(title)
        return
    free = {c.type_param_str for c in schema.type_constraints if _is_free(c.allowed_type_strs)}
    names: defaultdict[str, list[str]] = defaultdict(list)
    for variable, name in (*_formals(schema.inputs, node.input), *_formals(schema.outputs, node.output)):
        if variable in free:
            names[variable].append(name)
    for values in names.values():
        types = {known[name] for name in values if name in known}
        if not types:
            into.unknown.append(title)
        for dtype in types:
            into.types.setdefault(dtype, title)


def _formals(formals: "Sequence[OpSchema.FormalParameter]", names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The type variable and the name of each value; the last formal parameter may stand for any number of values."""
    for index, name in enumerate(names):
        if name and formals:
            yield formals[min(index, len(formals) - 1)].type_str, text(name)


def _is_free(allowed: Sequence[str]) -> bool:
    return len(allowed) > 1 and not _INDICES.issuperset(allowed)


@cache
def _schema(kind: str, version: int, domain: str) -> "OpSchema | None":
    from onnx import defs  # noqa: PLC0415 - heavy

    try:
        return defs.get_schema(kind, version, domain)
    except defs.SchemaError:
        return None
