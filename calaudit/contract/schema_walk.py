"""Which parts of a JSON Schema speak of which place in a document.

Only what our schemas use is followed: ``$ref`` into ``$defs``, ``properties``, ``additionalProperties``, ``items``,
``prefixItems``, and the branches of ``allOf``, ``anyOf`` and ``oneOf``. A test keeps our schemas to that subset.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from calaudit.errors import ContractError
from calaudit.model import Json
from calaudit.pointers import escape

SchemaNode: TypeAlias = Mapping[str, Any]
ANY = "*"
"""The reference token that stands for any member or element."""


def alternatives(root: SchemaNode, schema: SchemaNode) -> Iterator[SchemaNode]:
    """A subschema and all that it refers to or combines, for one and the same value."""
    yield schema
    reference = schema.get("$ref")
    if reference is not None:
        name = reference.removeprefix("#/$defs/")
        if name not in root.get("$defs", {}):
            raise ContractError(f"{root.get('$id')}: $ref {reference} leads nowhere; only #/$defs/<name> is used.")
        yield from alternatives(root, root["$defs"][name])
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            yield from alternatives(root, branch)


def below(root: SchemaNode, schemas: Iterable[SchemaNode], token: str) -> Iterator[SchemaNode]:
    """The subschemas for the member or element ``token`` of a value that ``schemas`` speak of."""
    for schema in schemas:
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties")
        prefix = schema.get("prefixItems", [])
        found: list[Any] = []
        if token == ANY:
            found = [*properties.values(), others, *prefix, schema.get("items")]
        elif token in properties:
            found = [properties[token]]
        elif isinstance(others, Mapping):
            found = [others]
        if token.isdecimal():
            found.append(prefix[int(token)] if int(token) < len(prefix) else schema.get("items"))
        for child in found:
            if isinstance(child, Mapping):
                yield from alternatives(root, child)


def at_pointer(root: SchemaNode, pointer: str) -> tuple[SchemaNode, ...]:
    """The subschemas for the place that a JSON pointer names (``*``: any token); empty where no place can be."""
    found = tuple(alternatives(root, root))
    for token in pointer.split("/")[1:]:
        found = tuple(below(root, found, token.replace("~1", "/").replace("~0", "~")))
    return found


def inexact_integers(root: SchemaNode, value: Json) -> Iterator[tuple[str, float]]:
    """Every place where a value holds ``4.0`` and its schema demands an integer.

    JSON Schema calls ``4.0`` an integer; Python, which indexes and counts with it, does not.
    """
    stack: list[tuple[str, Json]] = [("", value)]
    while stack:
        pointer, item = stack.pop()
        if isinstance(item, float):
            if _only_integer(at_pointer(root, pointer)):
                yield pointer, item
            continue
        children: list[tuple[str, Json]] = []
        if isinstance(item, dict):
            children = [(escape(k), v) for k, v in item.items() if _may_matter(v)]
        elif isinstance(item, list) and not _NEVER_MATTER.issuperset(map(type, item)):  # most are lists of tokens
            children = [(str(n), v) for n, v in enumerate(item) if _may_matter(v)]
        stack += [(f"{pointer}/{token}", child) for token, child in reversed(children)]


_NEVER_MATTER = frozenset({int, str, bool, type(None)})


def _may_matter(value: Json) -> bool:
    return isinstance(value, (dict, list)) or (isinstance(value, float) and value.is_integer())


def _only_integer(schemas: Iterable[SchemaNode]) -> bool:
    types: set[str] = set()
    for schema in schemas:
        declared = schema.get("type", [])
        types |= {declared} if isinstance(declared, str) else set(declared)
        if any(isinstance(v, int) and not isinstance(v, bool) for v in schema.get("enum", ())):
            types.add("integer")
    return "integer" in types and "number" not in types
