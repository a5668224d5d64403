"""Every subschema of a schema, and every place of a document."""

from collections.abc import Iterator
from typing import Any

from calaudit.contract.schema_walk import SchemaNode

MAPS = ("properties", "$defs")
LISTS = ("prefixItems", "allOf", "anyOf", "oneOf")
ONE = ("items", "additionalProperties", "propertyNames")


def subschemas(schema: SchemaNode, path: str = "") -> Iterator[tuple[str, SchemaNode]]:
    """Each subschema with its path, the schema itself first."""
    yield path, schema
    for keyword in MAPS:
        for name, child in schema.get(keyword, {}).items():
            yield from subschemas(child, f"{path}/{keyword}/{name}")
    for keyword in LISTS:
        for number, child in enumerate(schema.get(keyword, ())):
            yield from subschemas(child, f"{path}/{keyword}/{number}")
    for keyword in ONE:
        if isinstance(schema.get(keyword), dict):
            yield from subschemas(schema[keyword], f"{path}/{keyword}")


def places(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of a document with its JSON pointer (names hold neither ``~`` nor ``/`` here, or are escaped)."""
    yield pointer, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, f"{pointer}/{number}")
