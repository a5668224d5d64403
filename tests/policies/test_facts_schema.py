"""The facts schema: what the type hints say, and nothing that is internal."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Literal

import jsonschema
import pytest

from calaudit.facts import discover_facts, fact_document, internal
from calaudit.facts.paths import NoSuchPath, enum_of, schemas_at, types_of
from calaudit.facts.schema import facts_schema
from calaudit.model import Json, Location

if TYPE_CHECKING:
    from nowhere import Heavy


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Part:
    name: str
    weight: float | None
    parts: tuple["Part", ...] = ()


@dataclass(frozen=True)
class Everything:
    """What a fact can hold.

    More.
    """

    name: ClassVar[str] = "everything"

    count: int
    ratio: float
    yes: bool
    maybe: str | None
    colour: Colour
    size: Literal["s", "m"] | None
    whole: tuple[Part, ...]
    pair: tuple[int, str]
    words: frozenset[str]
    by_name: Mapping[str, Part]
    at: Location
    any: Json
    hidden: "Heavy" = internal(default=None)


SCHEMA = facts_schema([Everything])
PART = Part("p", 1.5, (Part("q", None),))
FACT = Everything(
    1, 0.5, True, None, Colour.RED, "s", (PART,), (1, "x"), frozenset({"b", "a"}), {"k": PART},
    Location(path="a", line=3), [1],
)  # fmt: skip


def test_it_is_a_schema_that_facts_follow():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    document = fact_document(FACT)
    assert document["at"] == "a:3"
    jsonschema.validate({"everything": document}, SCHEMA)
    jsonschema.validate({}, SCHEMA)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("count", "x"),
        ("count", None),
        ("colour", "green"),
        ("size", "l"),
        ("hidden", 1),
        ("words", [1]),
        ("pair", [1]),
        ("at", None),
    ],
)
def test_it_refuses_what_the_types_refuse(member, value):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"everything": {**fact_document(FACT), member: value}}, SCHEMA)


def test_the_first_paragraph_describes():
    (definition,) = (d for name, d in SCHEMA["$defs"].items() if name.endswith("Everything"))
    assert definition["description"] == "What a fact can hold."
    assert "hidden" not in definition["properties"]


def test_a_type_without_json_form_is_an_error():
    @dataclass
    class Bad:
        name: ClassVar[str] = "bad"
        data: bytes

    with pytest.raises(TypeError, match=r"facts\.bad\.data"):
        facts_schema([Bad])


@pytest.mark.parametrize(
    ("path", "types", "words"),
    [
        ("count", {"integer"}, ()),
        ("maybe", {"string", "null"}, ()),
        ("colour", {"string"}, ("red", "blue")),
        ("size", {"string", "null"}, ("s", "m")),
        ("whole.*.weight", {"number", "null"}, ()),
        ("whole.*.parts.*.parts.*.name", {"string"}, ()),
        ("by_name.anything.name", {"string"}, ()),
        ("pair.*", {"integer", "string"}, ()),
        ("any.what.ever", set(), ()),
        ("at", {"string"}, ()),
    ],
)
def test_paths_that_exist(path, types, words):
    found = schemas_at(("facts", "everything", *path.split(".")), SCHEMA)
    assert (types_of(found), enum_of(found)) == (types, words)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("everything.coumt", "facts.everything.coumt does not exist; count is near"),
        ("everything.whole.name", "facts.everything.whole has no members"),
        ("everything.whole.*.nam", r"facts.everything.whole\[\*\].nam does not exist; name is near"),
        ("everything.count.*", "facts.everything.count is not a list"),
        ("everything.by_name.*", "facts.everything.by_name is not a list"),
        ("everything.count.x", "facts.everything.count has no members"),
        ("everything.hidden", "facts.everything.hidden does not exist"),
        ("nothing.count", "facts.nothing does not exist; there are everything"),
    ],
)
def test_paths_that_do_not(path, message):
    with pytest.raises(NoSuchPath, match=message):
        schemas_at(("facts", *path.split(".")), SCHEMA)


def test_every_fact_of_calaudit_has_a_schema():
    schema = facts_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert sorted(schema["properties"]) == [kind.name for kind in discover_facts()]
