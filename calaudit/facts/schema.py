"""The JSON Schema of the facts document, generated from the type hints of the fact dataclasses.

One source for three readers: paths in policies are checked against it when the contract loads, ``calaudit facts
--schema`` prints it for other engines, and the cases of policies are validated by it. It mirrors ``fact_document``:
fields marked :func:`~calaudit.facts.internal` do not exist, locations are text.
"""

import dataclasses
import sys
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from calaudit.facts import Fact, discover_facts
from calaudit.model import Location

Schema = dict[str, Any]

_SCALARS: Mapping[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def facts_schema(kinds: Iterable[type[Fact]] | None = None) -> Schema:
    """The schema of what ``calaudit facts`` prints: every subject optional (evidence may lack), every member required.

    Raises:
        TypeError: a fact has a public field whose type has no JSON form.
    """
    found = discover_facts() if kinds is None else tuple(kinds)
    definitions: Schema = {}
    subjects = {kind.name: _of_class(kind, definitions, kind.name) for kind in found}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Facts of a port",
        "type": "object",
        "additionalProperties": False,
        "properties": subjects,
        "$defs": dict(sorted(definitions.items())),
    }


def _of_class(kind: Any, definitions: Schema, where: str) -> Schema:
    name = f"{kind.__module__.removeprefix('calaudit.')}.{kind.__name__}"
    if name not in definitions:
        definitions[name] = {}  # a recursive type finds itself
        fields = [item for item in dataclasses.fields(kind) if not item.metadata.get("internal")]
        hints = _hints(kind, fields)
        definitions[name] = {
            "type": "object",
            "additionalProperties": False,
            "required": [item.name for item in fields],
            "properties": {
                item.name: _of_type(hints[item.name], definitions, f"{where}.{item.name}") for item in fields
            },
        }
        summary = _summary(kind.__doc__)
        if summary:
            definitions[name]["description"] = summary
    return {"$ref": f"#/$defs/{name}"}


def _hints(kind: Any, fields: Iterable[dataclasses.Field[Any]]) -> Mapping[str, Any]:
    """The types of the public fields; an internal one may name what is imported for type checkers only."""
    public = types.SimpleNamespace(__annotations__={item.name: item.type for item in fields})
    return typing.get_type_hints(public, vars(sys.modules[kind.__module__]), {"Json": Any})


def _of_type(hint: Any, definitions: Schema, where: str) -> Schema:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any or isinstance(hint, typing.ForwardRef | str):
        return {}  # Json and its like: any data
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _union([_of_type(argument, definitions, where) for argument in arguments])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if hint is Location:
        return {"type": "string"}
    if dataclasses.is_dataclass(hint):
        return _of_class(hint, definitions, where)
    found = _container(origin, arguments, definitions, where)
    if found is None:
        raise TypeError(f"facts.{where}: {hint!r} has no JSON form; mark the field internal() or give it a plain type.")
    return found


def _container(origin: Any, arguments: tuple[Any, ...], definitions: Schema, where: str) -> Schema | None:
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        parts = [_of_type(argument, definitions, where) for argument in arguments]
        return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
    if isinstance(origin, type) and issubclass(origin, Sequence | AbstractSet):
        return {"type": "array", "items": _of_type(arguments[0], definitions, where)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of_type(arguments[1], definitions, where)}
    return None


def _union(parts: list[Schema]) -> Schema:
    if all(set(part) == {"type"} and isinstance(part["type"], str) for part in parts):
        return {"type": [part["type"] for part in parts]}
    return {"anyOf": parts}


def _summary(docstring: str | None) -> str:
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())
