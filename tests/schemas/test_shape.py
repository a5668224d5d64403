"""What our schemas have in common: closed, bounded, explained, and within the subset that both validators share."""

import re
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from calaudit.contract import Schema, Schemas
from calaudit.contract.resources import data_root
from tests.schemas.walk import subschemas

SCHEMAS = Schemas(data_root() / "schemas")
ALL = pytest.mark.parametrize("schema", SCHEMAS.values(), ids=lambda schema: schema.name)

KEYWORDS = frozenset(
    {"$schema", "$id", "$ref", "$defs", "title", "description", "examples", "default", "type", "const", "enum"}
    | {"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"}
    | {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "format"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "allOf", "anyOf", "oneOf"}
)
OPEN = {
    "policy-test/v1": {"/properties/cases/items/properties/facts"},
    **{
        name: {path for path, node in subschemas(SCHEMAS[name].document) if "additionalProperties" not in node}
        for name in ("provenance/v1", "vsa/v1")
    },
}
"""Mappings that hold what the facts of a port hold (`calaudit facts --schema`), and those that are SLSA's, not ours."""

UNBOUNDED_NUMBERS = {
    "quality-score/v1": {"/properties/logprob"},
    "output-record/v1": {"/properties/steps/items/properties/top/items/prefixItems/1"},
    "tensor-index/v1": {
        f"/properties/tensors/items/properties/stats/properties/{name}" for name in ("min", "max", "mean")
    },
}
"""Logits, their logarithms, values of tensors: any finite number (the parsers refuse the others)."""

READ = [schema for schema in SCHEMAS.values() if schema.name != "report/v1"]
"""The schemas of what calaudit reads; a report is what it writes, as long as it has to be."""


def is_choice(path: str) -> bool:
    return bool(re.search(r"/(?:anyOf|oneOf|allOf)/\d+$", path))


@ALL
def test_it_is_a_json_schema(schema: Schema) -> None:
    assert schema.document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema.document)
    jsonschema_rs.meta.validate(dict(schema.document))
    assert schema.validator


@ALL
def test_only_keywords_that_the_walk_follows(schema: Schema) -> None:
    for path, node in subschemas(schema.document):
        assert set(node) <= KEYWORDS, f"{schema.name}{path}: {sorted(set(node) - KEYWORDS)}"
        assert node.get("$ref", "#/$defs/x").startswith("#/$defs/"), f"{schema.name}{path}"


@ALL
def test_mappings_are_closed(schema: Schema) -> None:
    for path, node in subschemas(schema.document):
        if node.get("type") == "object" and path not in OPEN.get(schema.name, set()):
            assert node.get("additionalProperties") is False or isinstance(node.get("additionalProperties"), dict), (
                f"{schema.name}{path} lets unknown members pass"
            )
        assert set(node.get("required", ())) <= set(node.get("properties", node.get("required", ()))), path


@ALL
def test_everything_is_explained(schema: Schema) -> None:
    for path, node in subschemas(schema.document):
        named = re.search(r"/(?:properties|\$defs)/[^/]+$", path) or path == ""
        if named and not is_choice(path):
            explained = node if "$ref" not in node else {**schema.document["$defs"][node["$ref"][8:]], **node}
            assert explained.get("title"), f"{schema.name}{path} has no title"
            assert explained.get("description", "").strip().endswith((".", ")")), f"{schema.name}{path}: no sentence"
            assert len(explained["title"]) <= 40, path


@ALL
def test_members_show_an_example(schema: Schema) -> None:
    for path, node in subschemas(schema.document):
        if re.search(r"/properties/[^/]+$", path) and node.get("type") in ("string", "integer", "number", "boolean"):
            assert node.get("examples"), f"{schema.name}{path} has no example"


@ALL
def test_every_example_is_valid(schema: Schema) -> None:
    for path, node in subschemas(schema.document):
        for example in node.get("examples", ()):
            sub: dict[str, Any] = {"$defs": schema.document.get("$defs", {}), **node}
            sub.pop("$id", None)
            validator = jsonschema_rs.Draft202012Validator(sub, validate_formats=True)
            assert not [e.message for e in validator.iter_errors(example)], f"{schema.name}{path}"
    assert schema.document.get("examples") or schema not in READ
    for example in schema.document.get("examples", ()):
        assert [e.message for e in schema.errors(example)] == []
        assert schema.is_valid(example)


@pytest.mark.parametrize("schema", READ, ids=lambda schema: schema.name)
def test_text_and_lists_are_bounded(schema: Schema) -> None:
    for path, node in subschemas(schema.document):
        types = node.get("type", ())
        where = f"{schema.name}{path}"
        if "string" in types and "propertyNames" not in path:
            bounded = "maxLength" in node or "enum" in node or is_bounded_pattern(node.get("pattern", ""))
            assert bounded, f"{where}: text without a longest length"
        if "array" in types:
            assert "maxItems" in node, f"{where}: a list without a largest size"
            assert "minItems" in node or path in OPEN, f"{where}: say whether the list may be empty"
        if ("integer" in types or "number" in types) and path not in UNBOUNDED_NUMBERS.get(schema.name, set()):
            bounded = "minimum" in node or "exclusiveMinimum" in node or "boolean" in types or "string" in types
            assert bounded or path.startswith("/$defs/value"), f"{where}: a number without a lowest value"


def is_bounded_pattern(pattern: str) -> bool:
    return bool(pattern) and not re.search(r"(?<!\\)[*+]|\{\d+,\}", re.sub(r"\[(?:\\.|[^\]\\])*\]", "[]", pattern))


@ALL
def test_patterns_mean_the_same_in_every_engine(schema: Schema) -> None:
    for path, node in subschemas(schema.document):
        pattern = node.get("pattern")
        if pattern is None:
            continue
        where = f"{schema.name}{path}: {pattern}"
        assert (pattern[0], pattern[-1]) == ("^", "$"), f"{where}: not the whole text"
        assert not re.search(r"\\[sSdDwWbBpP]", pattern), f"{where}: classes differ between engines"
        assert not re.search(r"\(\?[^:]", pattern), f"{where}: no looking around, no flags, no names"
        bare = re.sub(r"\[(?:\\.|[^\]\\])*\]", "", pattern)
        assert bare.count("$") == 1, f"{where}: $ stands at the end only"
        assert "." not in bare.replace("\\.", ""), f"{where}: a bare dot differs in line ends"


def test_definitions_of_one_name_are_one_definition() -> None:
    known: dict[str, tuple[str, Any]] = {}
    for schema in SCHEMAS.values():
        for name, definition in schema.document.get("$defs", {}).items():
            if schema.name == "report/v1":
                continue  # its definitions are those of the report, not of port documents
            other, first = known.setdefault(name, (schema.name, definition))
            assert definition == first, f"$defs/{name} differs between {other} and {schema.name}"


@ALL
def test_no_definition_is_unused(schema: Schema) -> None:
    used = {node["$ref"].removeprefix("#/$defs/") for _, node in subschemas(schema.document) if "$ref" in node}
    assert used == set(schema.document.get("$defs", {}))


@ALL
def test_a_tag_names_the_schema(schema: Schema) -> None:
    name, _, major = schema.name.partition("/")
    if schema.tag is None:
        assert "schema" not in schema.document["properties"]
    else:
        assert schema.tag in (f"calaudit-{name}/{major}", f"calculet-{name}/{major}")
        assert "schema" in schema.document["required"]
