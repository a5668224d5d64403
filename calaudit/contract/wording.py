"""What a schema error says to a person: what was found, what was expected, never a dump of the document."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import jsonschema_rs

_SHOWN = 60
_TYPES = {"object": "a mapping", "array": "a list", "string": "text", "null": "null", "boolean": "true or false"}
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}
_SIZES = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} members",
    "maxProperties": "at most {} members",
}
_PATTERNS = {
    "^[0-9a-f]{64}$": "64 lower-case hexadecimal digits",
    "^(?:[0-9a-f]{40}|[0-9a-f]{64})$": "40 or 64 lower-case hexadecimal digits",
    "^sha256:[0-9a-f]{64}$": "sha256: and 64 lower-case hexadecimal digits",
    "^G(?:[0-9]|10)$": "G0 to G10",
    "^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$": "letters and digits, joined by single dots, hyphens or underscores",
    "^[a-z0-9]+(?:-[a-z0-9]+)*$": "lower-case letters and digits, joined by single hyphens",
    "^[a-z0-9][a-z0-9_.+-]*$": "lower-case letters, digits and _ . + -, beginning with a letter or digit",
    "^2[0-9]{3}-[0-9]{2}-[0-9]{2}$": "a day as YYYY-MM-DD",
    "^2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9]Z$": "a moment in UTC as YYYY-MM-DDThh:mm:ssZ",
    "^2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.[0-9]{1,9})?Z$": (
        "a moment in UTC as YYYY-MM-DDThh:mm:ssZ"
    ),
    "^https://[!-~]+$": "an address that begins with https://",
    "^[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+@[A-Za-z0-9][A-Za-z0-9._/-]*$": "vendor/name@revision",
}
"""What the patterns of the schemas ask for, in words."""


def relevant(error: jsonschema_rs.ValidationError) -> Iterator[jsonschema_rs.ValidationError]:
    """The error itself or, where only one branch of a choice is of the value's type, what is wrong in that branch."""
    branches = error.kind.value if error.kind.name in ("anyOf", "oneOf") else None
    if isinstance(branches, list) and len(branches) > 1:
        here = list(error.instance_path)
        close = [
            branch
            for branch in branches
            if not any(inner.kind.name == "type" and list(inner.instance_path) == here for inner in branch)
        ]
        if len(close) == 1:
            for inner in close[0]:
                yield from relevant(inner)
            return
    yield error


def explain(error: jsonschema_rs.ValidationError, root: Mapping[str, Any]) -> str:
    """A sentence for an error of the compiled validator. ``root`` is the whole schema."""
    return _sentence(error, _parent(error, root))


def unknown_members(error: jsonschema_rs.ValidationError, root: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each member that the schema does not know, with a sentence; nothing for any other error."""
    if error.kind.name == "additionalProperties":
        schema = _parent(error, root)
        for name in sorted(error.kind.value):
            yield name, _unknown([name], None, schema)


def show(value: Any) -> str:
    """A value for a message, cut where it is long; containers by their size only."""
    if isinstance(value, dict):
        return f"a mapping of {len(value)} member{'' if len(value) == 1 else 's'}"
    if isinstance(value, list):
        return f"a list of {len(value)} item{'' if len(value) == 1 else 's'}"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= _SHOWN else f'"{value[:_SHOWN]}…"'
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value)


def _sentence(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> str:
    keyword, limit, value = error.kind.name, error.kind.value, error.instance
    if keyword in _BOUNDS:
        return f"Found {show(value)}, expected {_BOUNDS[keyword]} {limit}{_aside(schema)}."
    if keyword in _SIZES:
        size = len(value) if isinstance(value, str | list | dict) else 0
        return f"Found {size}, expected {_SIZES[keyword].format(limit)}{_aside(schema)}."
    if keyword in _SENTENCES:
        return _SENTENCES[keyword](limit, value, schema)
    return f"{error.message[:200]}."


def _type(limit: list[str], value: Any, schema: Mapping[str, Any]) -> str:
    wanted = _either(_TYPES.get(t, f"an {t}" if t[0] in "aeiou" else f"a {t}") for t in limit)
    return f"Found {show(value)}, expected {wanted}{_aside(schema)}."


def _enum(limit: list[Any], value: Any, _: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(str(value), [v for v in limit if isinstance(v, str)], n=1)
    hint = f" ({show(near[0])} is near)." if near else "."
    return f"Found {show(value)}, expected {_either(show(v) for v in limit)}{hint}"


def _unknown(limit: list[str], _: Any, schema: Mapping[str, Any]) -> str:
    names, known = sorted(limit), schema.get("properties", {})
    near = difflib.get_close_matches(names[0], known, n=1)
    hint = f"; {show(near[0])} is near." if near else f"; known are {', '.join(known)}."
    return f"Unknown member{'s' if len(names) > 1 else ''} {', '.join(show(n) for n in names[:5])}{hint}"


def _pattern(pattern: str, schema: Mapping[str, Any]) -> str:
    """What a pattern asks for: the member's meaning, and the pattern in words where it has some."""
    words, meaning = _PATTERNS.get(pattern), _meaning(schema)
    if words is None:
        return meaning or f"a match of {pattern}"
    return f"{words} ({meaning})" if meaning else words


def _choice(keyword: str) -> "_Sentence":
    def sentence(_: Any, value: Any, schema: Mapping[str, Any]) -> str:
        branches = schema.get(keyword, [])
        wanted = [b["required"][0] for b in branches if set(b) == {"required"}]
        if wanted and len(wanted) == len(branches):
            count = "Exactly one" if keyword == "oneOf" else "At least one"
            return f"{count} of {', '.join(show(w) for w in wanted)} is needed."
        return f"Found {show(value)}, which fits nothing that may stand here{_aside(schema)}."

    return sentence


_Sentence: TypeAlias = Callable[[Any, Any, Mapping[str, Any]], str]
_SENTENCES: Mapping[str, _Sentence] = {
    "required": lambda limit, _, __: f"The member {show(limit)} is missing.",
    "additionalProperties": _unknown,
    "type": _type,
    "enum": _enum,
    "const": lambda limit, value, _: f"Found {show(value)}, expected {show(limit)}.",
    "pattern": lambda limit, value, schema: f"Found {show(value)}, expected {_pattern(limit, schema)}.",
    "format": lambda limit, value, schema: f"Found {show(value)}, expected {_meaning(schema) or limit}.",
    "uniqueItems": lambda _, __, schema: f"An item stands here twice; keep one{_aside(schema)}.",
    "propertyNames": lambda inner, _, schema: f"A member's name: {_sentence(inner, schema)}",
    "anyOf": _choice("anyOf"),
    "oneOf": _choice("oneOf"),
}


def _parent(error: jsonschema_rs.ValidationError, root: Any) -> Mapping[str, Any]:
    """The subschema whose keyword complains; empty where the path leads through something unknown."""
    node = root
    for step in list(error.schema_path)[:-1]:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return {}
    return node if isinstance(node, dict) else {}


def _aside(schema: Mapping[str, Any]) -> str:
    meaning = _meaning(schema)
    return f" ({meaning})" if meaning else ""


def _meaning(schema: Mapping[str, Any]) -> str:
    description = str(schema.get("description", "")).removesuffix(".")
    return f"{schema.get('title', '')}: {description}".removeprefix(": ").removesuffix(": ")


def _either(words: Iterable[str]) -> str:
    listed = list(words)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
