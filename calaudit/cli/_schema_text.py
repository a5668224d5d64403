"""A schema as text for people: every member with its type, its bounds, what it means and an example."""

import json
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any, TypeAlias

from calaudit.contract.schema_walk import SchemaNode

_WIDTH = 100
_TYPES = {"object": "mapping", "array": "list", "string": "text"}
_BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minItems": "items ≥ {}",
    "maxLength": "length ≤ {}",
    "uniqueItems": "no item twice",
    "format": "format {}",
}
_Member: TypeAlias = tuple[str, SchemaNode, bool]


def reference(name: str, schema: SchemaNode, *, tag: str | None) -> str:
    """The whole reference page of one schema."""
    lines = [f"{name}: {schema['title']}", *wrap(schema["description"], _WIDTH), ""]
    lines += [f"Documents carry the tag  schema: {tag}", ""] if tag else []
    lines += _members(schema, schema, "")
    for example in schema.get("examples", [])[:1]:
        lines += ["", "Example:", json.dumps(example, indent=2, ensure_ascii=False)]
    return "\n".join([*lines, ""])


def _members(root: SchemaNode, schema: SchemaNode, indent: str) -> Iterator[str]:
    for name, raw, required in _children(schema):
        member = _resolved(root, raw)
        yield f"{indent}{name}  ({', '.join(_facts(root, member, required=required))})"
        meaning = member.get("description", member.get("title", ""))
        yield from wrap(meaning, _WIDTH, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    ")
        for inner in _objects(root, member):
            yield from _members(root, inner, f"{indent}  ")


def _children(schema: SchemaNode) -> Iterator[_Member]:
    required = schema.get("required", ())
    for name, child in schema.get("properties", {}).items():
        yield name, child, name in required
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        yield "<name>", others, False


def _objects(root: SchemaNode, member: SchemaNode) -> Iterator[SchemaNode]:
    """The mappings that a member is, or that its list or its choice holds."""
    if "properties" in member or isinstance(member.get("additionalProperties"), Mapping):
        yield member
    for child in (member.get("items"), *member.get("anyOf", ())):
        if isinstance(child, Mapping):
            yield from _objects(root, _resolved(root, child))


def _facts(root: SchemaNode, member: SchemaNode, *, required: bool) -> Iterator[str]:
    yield _kind(root, member)
    yield "required" if required else "optional"
    for keyword, text in _BOUNDS.items():
        if keyword in member and (keyword, member[keyword]) not in (("minItems", 0), ("minimum", 0)):
            yield text.format(member[keyword])
    if "examples" in member and "enum" not in member and not isinstance(member["examples"][0], dict | list):
        yield f"e.g. {json.dumps(member['examples'][0], ensure_ascii=False)}"


def _kind(root: SchemaNode, member: SchemaNode) -> str:
    if "const" in member:
        return json.dumps(member["const"], ensure_ascii=False)
    if "enum" in member:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in member["enum"])
    if "anyOf" in member and "type" not in member:
        return " or ".join(_kind(root, _resolved(root, branch)) for branch in member["anyOf"])
    types = member.get("type", "any")
    text = " or ".join(_TYPES.get(t, t) for t in ([types] if isinstance(types, str) else types))
    items = member.get("items")
    return f"{text} of {_kind(root, _resolved(root, items))}" if isinstance(items, Mapping) else text


def _resolved(root: SchemaNode, schema: SchemaNode) -> dict[str, Any]:
    """The schema with what it refers to; its own title, description and examples win."""
    reference = schema.get("$ref")
    base = root["$defs"][reference.removeprefix("#/$defs/")] if reference else {}
    return {**base, **schema}
