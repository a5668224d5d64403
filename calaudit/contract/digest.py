"""The contract digest: one SHA-256 over everything that judges.

It covers schemas, gates, params, profiles and policies as JCS (RFC 8785) without their prose, so that a better wording
does not make signoffs outdated; the source of the code that judges; and calaudit's version.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import rfc8785

from calaudit.errors import ContractError

_PACKAGE = Path(__file__).resolve().parent.parent
_NEVER_JUDGES = frozenset({"cli", "report", "harness", "intake", "sign", "execute", "release"})
"""Parts of the package that verdicts do not depend on; whatever is not named here counts, a new module too."""

_ANNOTATIONS = frozenset({"title", "description", "examples", "default", "$comment"})
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS = frozenset(
    {"additionalProperties", "items", "contains", "propertyNames", "not", "if", "then", "else"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)


def contract_digest(documents: Mapping[str, Any], version: str, *, code: str | None = None) -> str:
    """Digest the documents of a contract, by their names, together with the judging code and the version.

    A name says what a document is: ``schemas/…``, ``profiles/…``, ``policies/…``, ``overlays/…``, ``gates`` or
    ``params``. ``code`` is the digest of the judging code; by default that of this installation.

    Raises:
        ContractError: a document holds a number that JCS cannot write exactly.
    """
    body: dict[str, Any] = {
        "version": version,
        "documents": {name: _judging(name, document) for name, document in documents.items()},
        "code": code_digest() if code is None else code,
    }
    try:
        return hashlib.sha256(rfc8785.dumps(body)).hexdigest()
    except rfc8785.CanonicalizationError as error:
        raise ContractError(f"The contract has no canonical form (RFC 8785): {error}.") from error


def code_digest() -> str:
    """Digest the source of everything that judges: each file's path in the package and its bytes."""
    hasher = hashlib.sha256()
    for name in sorted(_sources(_PACKAGE)):
        relative = name.encode()
        data = (_PACKAGE / name).read_bytes()
        hasher.update(len(relative).to_bytes(8) + relative + len(data).to_bytes(8) + data)
    return hasher.hexdigest()


def _judging(name: str, document: Any) -> Any:
    """What of a document judges: everything but the members that are known to be prose."""
    if name == "schemas" or name.startswith("schemas/"):
        return _schema(document)
    if name == "gates":
        return _each(document, "gates", lambda gate: _without(gate, "title", "output", "back_to"))
    if name == "params":
        params = document.get("params", {})
        return {**document, "params": {key: _without(param, "title", "unit") for key, param in params.items()}}
    if name.startswith("profiles/"):
        return _without(document, "title")
    if name.startswith("policies/") or (name.startswith("overlays/") and "rules" in document):
        return _each(document, "rules", lambda rule: _without(rule, "title", "why", "fix", "message", "back_to"))
    return document


def _each(document: Any, member: str, clean: Callable[[Any], Any]) -> Any:
    return {**document, member: [clean(item) for item in document.get(member, [])]}


def _without(value: Mapping[str, Any], *members: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in members}


def _schema(schema: Any) -> Any:
    """A schema without annotations; a *property* that is called ``title`` stays."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ANNOTATIONS:
            continue
        if key in _SCHEMA_MAPS:
            out[key] = {name: _schema(child) for name, child in value.items()}
        elif key in _SCHEMA_LISTS:
            out[key] = [_schema(child) for child in value]
        else:
            out[key] = _schema(value) if key in _SCHEMAS else value
    return out


def _sources(folder: Path, prefix: str = "") -> Iterator[str]:
    """Paths of source files below the package, POSIX style. Not ``rglob``: this runs at every start."""
    with os.scandir(folder) as found:
        for item in found:
            if item.is_dir():
                if prefix or item.name not in _NEVER_JUDGES:
                    yield from _sources(Path(item.path), f"{prefix}{item.name}/")
            elif item.name.endswith(".py"):
                yield f"{prefix}{item.name}"
