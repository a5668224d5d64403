"""The facts document of a port: what policies judge, ``calaudit facts`` prints and other engines are given."""

import json
import math
from collections.abc import Iterator

from calaudit.errors import MissingFact
from calaudit.facts import Facts, discover_facts, fact_document
from calaudit.model import Json

__all__ = ["facts_document", "written"]


def facts_document(facts: Facts) -> tuple[dict[str, Json], list[str]]:
    """Every fact by its name, and a sentence for everything that is missing.

    A subject that the evidence does not support is absent; a number that is not finite is null, since JSON has no word
    for it.
    """
    document: dict[str, Json] = {}
    missing: list[str] = []
    for kind in discover_facts():
        try:
            found: Json = fact_document(facts.get(kind))
        except MissingFact as error:
            at = "" if error.at is None else f" ({error.at})"
            missing.append(f"facts.{kind.name} is missing: {error.message}{at}")
            continue
        missing += [f"{path} is not a finite number" for path in _infinite(found, f"facts.{kind.name}")]
        document[kind.name] = _finite(found)
    return document, missing


def written(document: object) -> str:
    """A document as JSON text in ASCII: control characters and lone surrogates leave as escapes; keys are sorted."""
    text = json.dumps(document, indent=2, sort_keys=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"


def _infinite(value: Json, path: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _infinite(item, f"{path}.{name}")
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _infinite(item, f"{path}[{n}]")


def _finite(value: Json) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
