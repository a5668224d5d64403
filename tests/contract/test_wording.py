"""Schema errors are sentences: found, expected, and never a dump of the document."""

from typing import Any

import pytest

from calaudit.contract import Contract, Schema

DOCUMENT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "size": {"title": "Size", "description": "In bytes.", "type": "integer", "minimum": 0, "exclusiveMaximum": 10},
        "level": {"enum": ["error", "warning", None]},
        "kind": {"const": "x"},
        "digest": {"$ref": "#/$defs/digest"},
        "day": {"title": "Day", "type": "string", "format": "date"},
        "items": {"type": "array", "uniqueItems": True, "maxItems": 2},
        "text": {},
        "uri": {},
        "moe": {
            "anyOf": [
                {"type": "null"},
                {"type": "object", "required": ["experts"], "properties": {"experts": {"minimum": 2}}},
            ]
        },
        "wide": {"anyOf": [{"type": "null"}, {"type": "integer"}], "title": "Wide"},
        "env": {
            "type": "object",
            "propertyNames": {"title": "Name", "description": "Upper case.", "pattern": "^[A-Z]+$"},
        },
    },
    "oneOf": [{"required": ["text"]}, {"required": ["uri"]}],
    "$defs": {"digest": {"title": "Digest", "description": "Hexadecimal.", "type": "string", "pattern": "^[0-9a-f]+$"}},
}
SCHEMA = Schema("x/v1", DOCUMENT)


@pytest.mark.parametrize(
    ("change", "pointer", "message"),
    [
        ({"name": "x"}, "/name", "Found 1, expected at least 2 characters."),
        ({"name": 3}, "/name", "Found 3, expected text."),
        ({"name": None}, "/name", "Found null, expected text."),
        ({"size": "big" * 1000}, "/size", 'Found "' + "big" * 20 + '…", expected an integer (Size: In bytes).'),
        ({"size": -1}, "/size", "Found -1, expected at least 0 (Size: In bytes)."),
        ({"size": 10}, "/size", "Found 10, expected less than 10 (Size: In bytes)."),
        ({"size": {"a": 1}}, "/size", "Found a mapping of 1 member, expected an integer (Size: In bytes)."),
        ({"level": "warn"}, "/level", 'Found "warn", expected "error", "warning" or null ("warning" is near).'),
        ({"kind": True}, "/kind", 'Found true, expected "x".'),
        ({"digest": "XYZ"}, "/digest", 'Found "XYZ", expected Digest: Hexadecimal.'),
        ({"day": "2026-02-30"}, "/day", 'Found "2026-02-30", expected Day.'),
        ({"items": [1, 1]}, "/items", "An item stands here twice; keep one."),
        ({"items": [1, 2, 3]}, "/items", "Found 3, expected at most 2 items."),
        ({"moe": {}}, "/moe", 'The member "experts" is missing.'),
        ({"moe": {"experts": 1}}, "/moe/experts", "Found 1, expected at least 2."),
        ({"moe": [1]}, "/moe", "Found a list of 1 item, which fits nothing that may stand here."),
        ({"wide": "x"}, "/wide", 'Found "x", which fits nothing that may stand here (Wide).'),
        ({"env": {"a": 1}}, "/env", 'A member\'s name: Found "a", expected Name: Upper case.'),
        ({"uri": "x"}, "", 'Exactly one of "text", "uri" is needed.'),
        ({"text": ...}, "", 'Exactly one of "text", "uri" is needed.'),
        ({"nam": 1}, "/nam", 'Unknown member "nam"; "name" is near.'),
        (
            {"a/b": 1},
            "/a~1b",
            'Unknown member "a/b"; known are ' + ", ".join(DOCUMENT["properties"]) + ".",
        ),
        ({"name": ...}, "", 'The member "name" is missing.'),
    ],
)
def test_sentences(change: dict[str, Any], pointer: str, message: str) -> None:
    document = {"name": "name", "text": "x", **change}
    found = list(SCHEMA.errors({k: v for k, v in document.items() if v is not ...}))
    assert [(e.pointer, e.message) for e in found] == [(pointer, message)]


def test_patterns_are_told_in_words(contract: Contract) -> None:
    document = {"schema": "calaudit-port/v1", "id": "bad id!", "profile": "x", "stage": "development", "claim": "11"}
    said = {error.pointer: error.message for error in contract.schemas["port/v1"].errors(document)}
    assert said["/id"].startswith(
        'Found "bad id!", expected letters and digits, joined by single dots, hyphens or underscores (Id: '
    )
    assert said["/claim"].startswith('Found "11", expected G0 to G10 (Gate: ')
