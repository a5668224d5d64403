"""Walking a path of a policy through the facts schema: does it exist, and which values can stand there.

The schema is the one that :func:`calaudit.facts.schema.facts_schema` generates, so only its few keywords occur.
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from calaudit.contract.cel_paths import EACH, Path, show

Schema = Mapping[str, Any]


class NoSuchPath(Exception):
    """A path that no facts document can have; the text says which segment and what is near."""


def schemas_at(path: Path, schema: Schema) -> tuple[Schema, ...]:
    """The schemas of the values that can stand at a path (``("facts", "onnx", "inputs", "*", "name")``).

    Raises:
        NoSuchPath: no value can stand there.
    """
    here: tuple[Schema, ...] = tuple(_alternatives(schema, schema))
    for depth, segment in enumerate(path[1:], start=1):
        found = [inner for part in here for step in _step(part, segment) for inner in _alternatives(step, schema)]
        if not found:
            raise NoSuchPath(_explain(path[: depth + 1], here))
        here = tuple(found)
    return here


def types_of(schemas: tuple[Schema, ...]) -> frozenset[str]:
    """The JSON types that values of these schemas can have; empty where any can."""
    found: set[str] = set()
    for schema in schemas:
        if "enum" in schema:
            found.add("string" if all(isinstance(value, str) for value in schema["enum"]) else "any")
        elif isinstance(schema.get("type"), list):
            found.update(schema["type"])
        else:
            found.add(schema.get("type", "any"))
    return frozenset() if "any" in found else frozenset(found)


def enum_of(schemas: tuple[Schema, ...]) -> tuple[str, ...]:
    """The only words that can stand there; empty where the schema does not list them."""
    said = [schema.get("enum") for schema in schemas if schema.get("type") != "null"]
    if any(words is None for words in said):
        return ()
    return tuple(word for words in said if words for word in words if isinstance(word, str))


def _alternatives(schema: Schema, root: Schema) -> Iterator[Schema]:
    if "$ref" in schema:
        yield from _alternatives(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    elif "anyOf" in schema:
        for part in schema["anyOf"]:
            yield from _alternatives(part, root)
    else:
        yield schema


def _step(schema: Schema, segment: str) -> Iterator[Schema]:
    if not schema:
        yield schema  # any data: any path
    elif segment == EACH:
        if schema.get("type") == "array":
            yield from schema.get("prefixItems", ())
            if isinstance(schema.get("items"), Mapping):
                yield schema["items"]
    elif segment in schema.get("properties", {}):
        yield schema["properties"][segment]
    elif isinstance(schema.get("additionalProperties"), Mapping):
        yield schema["additionalProperties"]


def _explain(path: Path, here: tuple[Schema, ...]) -> str:
    if path[-1] == EACH:
        return f"{show(path[:-1])} is not a list"
    members = sorted({name for part in here for name in part.get("properties", {})})
    if not members:
        return f"{show(path[:-1])} has no members"
    near = difflib.get_close_matches(path[-1], members, n=1, cutoff=0.6)
    listed = ", ".join(members)
    return f"{show(path)} does not exist; " + (f"{near[0]} is near" if near else f"there are {listed}")
