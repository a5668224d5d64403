"""Systematic ways to change a document: what a schema says of each place decides what is worth trying there."""

import copy
import math
from collections.abc import Iterator
from typing import Any

from calaudit.contract.schema_walk import SchemaNode, at_pointer
from tests.schemas.walk import places

STRANGERS: tuple[Any, ...] = (None, True, 0, -1, 1, 4.0, 0.5, "", "x", "x\n", "2026-02-30", [], [1, 1], {}, {"x": 1})
"""One value of each type, and the ones that implementations disagree about."""


def mutants(schema: SchemaNode, document: Any) -> Iterator[tuple[str, Any]]:
    """Every changed copy of the document, with what was changed; places of one kind are tried once."""
    tried: set[str] = set()
    for pointer, value in places(document):
        kind = _kind(at_pointer(schema, pointer))
        if kind in tried and not isinstance(value, dict):
            continue
        tried.add(kind)
        if isinstance(value, dict):
            for name in value:
                yield (
                    f"without {pointer}/{name}",
                    _with(document, pointer, {k: v for k, v in value.items() if k != name}),
                )
            yield f"with an unknown member in {pointer or '/'}", _with(document, pointer, {**value, "zz": 1})
            yield f"with an odd name in {pointer or '/'}", _with(document, pointer, {**value, "Odd name\n": "x"})
        elif isinstance(value, list) and value:
            yield f"{pointer} twice", _with(document, pointer, [*value, value[0]])
            yield f"{pointer} shorter", _with(document, pointer, value[:-1])
        for other in (*STRANGERS, *_boundaries(at_pointer(schema, pointer)), *_twists(value)):
            if other != value or type(other) is not type(value):
                yield f"{pointer or '/'} = {other!r:.60}", _with(document, pointer, other)


def _kind(schemas: tuple[SchemaNode, ...]) -> str:
    prose = ("title", "description", "examples", "$ref")
    return repr([{keyword: s[keyword] for keyword in sorted(s) if keyword not in prose} for s in schemas])


def _boundaries(schemas: tuple[SchemaNode, ...]) -> Iterator[Any]:
    for schema in schemas:
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if keyword in schema:
                limit = schema[keyword]
                yield from (
                    limit - 1,
                    limit,
                    limit + 1,
                    math.nextafter(limit, math.inf),
                    math.nextafter(limit, -math.inf),
                )
        for size in (schema.get("minLength"), schema.get("maxLength")):
            if size is not None and size <= 5000:
                yield from ("a" * max(size - 1, 0), "a" * size, "a" * (size + 1), "é" * size, "𝄞" * size)
        for size in (schema.get("minItems"), schema.get("maxItems")):
            if size is not None and size <= 300:
                yield from ([1] * max(size - 1, 0), list(range(size)), list(range(size + 1)))
        yield from schema.get("enum", ())


def _twists(value: Any) -> Iterator[Any]:
    """What is nearly the value."""
    if isinstance(value, str):
        yield from (
            f"{value}\n",
            f"\n{value}",
            f" {value}",
            f"{value}\u00a0",
            value.upper(),
            value.swapcase(),
            value[:-1],
        )
        yield from (f"../{value}", f"/{value}", f"{value}/", f"{value}/..", f"./{value}", f"{value}\\x", f"{value}//x")
        yield from (
            f"{value}\x00",
            f"{value}\x85",
            f"{value}\u2028",
            f".{value}",
            f"...{value}",
            f"{value}/…",
            f"{value}\u0663",
        )
        if len(value) > 3:
            yield value[:2] + "\u0660" + value[3:]  # an Arabic digit
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from (-value, float(value), value + 0.5, value * 10**30, str(value))


def _with(document: Any, pointer: str, value: Any) -> Any:
    """A copy that shares everything but what lies on the way to the pointer."""
    if not pointer:
        return value
    token, slash, rest = pointer[1:].partition("/")
    key = token.replace("~1", "/").replace("~0", "~") if isinstance(document, dict) else int(token)
    changed = copy.copy(document)
    changed[key] = _with(document[key], slash + rest, value)
    return changed
