"""The contract digest: prose does not move it, whatever judges does."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from calaudit.contract import digest as module
from calaudit.contract.digest import code_digest, contract_digest
from calaudit.errors import ContractError

SCHEMA = {
    "title": "A document",
    "description": "What it is.",
    "type": "object",
    "required": ["title"],
    "additionalProperties": False,
    "properties": {
        "title": {"title": "Title", "type": "string", "maxLength": 10, "examples": ["x"], "default": "y"},
        "examples": {"type": "array", "items": {"description": "An item.", "type": "integer"}},
        "kind": {"enum": ["a", "b"]},
        "value": {"anyOf": [{"title": "Nothing", "type": "null"}, {"$ref": "#/$defs/size"}]},
    },
    "$defs": {"size": {"title": "Size", "minimum": 0}},
    "examples": [{"title": "x"}],
}
DOCUMENTS: dict[str, Any] = {
    "schemas/document/v1": SCHEMA,
    "gates": {
        "gates": [{"id": "G0", "title": "Intake", "output": "x", "back_to": "y", "threshold": ["a"]}],
        "port": [],
    },
    "params": {"params": {"title": {"value": 1, "stricter": "lower", "title": "A param", "unit": "s"}}},
    "profiles/example": {"id": "example", "title": "Example", "releasable": False, "params": {"title": 2, "why": [3]}},
    "policies/g00-x.yaml": {
        "gate": "G0",
        "rules": [{"id": "r", "level": "error", "title": "T", "why": "W", "fix": "F", "require": "R", "message": "M"}],
    },
}


def edited(*path: str | int, value: object) -> dict[str, Any]:
    documents = copy.deepcopy(DOCUMENTS)
    node: Any = documents
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return documents


def of(documents: dict[str, Any], version: str = "1") -> str:
    return contract_digest(documents, version, code="same")


S = "schemas/document/v1"


@pytest.mark.parametrize(
    "path",
    [
        (S, "title"),
        (S, "description"),
        (S, "examples"),
        (S, "properties", "title", "title"),
        (S, "properties", "title", "examples"),
        (S, "properties", "title", "default"),
        (S, "properties", "examples", "items", "description"),
        (S, "properties", "value", "anyOf", 0, "title"),
        (S, "$defs", "size", "title"),
        ("gates", "gates", 0, "title"),
        ("gates", "gates", 0, "back_to"),
        ("params", "params", "title", "title"),
        ("profiles/example", "title"),
        ("policies/g00-x.yaml", "rules", 0, "title"),
        ("policies/g00-x.yaml", "rules", 0, "why"),
        ("policies/g00-x.yaml", "rules", 0, "fix"),
        ("policies/g00-x.yaml", "rules", 0, "message"),
    ],
)
def test_prose_does_not_change_it(path: tuple[str | int, ...]) -> None:
    assert of(edited(*path, value="Better words.")) == of(DOCUMENTS)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((S, "type"), "array"),
        ((S, "required"), []),
        ((S, "additionalProperties"), True),
        ((S, "properties", "title"), {"type": "string"}),
        ((S, "properties", "title", "maxLength"), 11),
        ((S, "properties", "examples"), True),
        ((S, "properties", "examples", "items", "type"), "number"),
        ((S, "properties", "kind", "enum"), ["a"]),
        ((S, "properties", "value", "anyOf", 0, "type"), "string"),
        ((S, "$defs", "size", "minimum"), 1),
        (("gates", "gates", 0, "id"), "G1"),
        (("gates", "gates", 0, "threshold"), ["b"]),
        (("params", "params", "title", "value"), 2),
        (("params", "params", "title", "stricter"), "higher"),
        (("profiles/example", "releasable"), True),
        (("profiles/example", "params", "title"), 3),
        (("profiles/example", "params", "why"), [4]),
        (("policies/g00-x.yaml", "gate"), "G1"),
        (("policies/g00-x.yaml", "rules", 0, "level"), "warning"),
        (("policies/g00-x.yaml", "rules", 0, "require"), "true"),
        (("policies/g00-x.yaml", "rules", 0, "when"), "true"),
    ],
)
def test_whatever_judges_changes_it(path: tuple[str | int, ...], value: object) -> None:
    assert of(edited(*path, value=value)) != of(DOCUMENTS)


def test_the_version_the_names_and_the_code_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of(DOCUMENTS, "2") != of(DOCUMENTS)
    renamed = {name.replace("example", "other"): document for name, document in DOCUMENTS.items()}
    assert of(renamed) != of(DOCUMENTS)
    assert contract_digest(DOCUMENTS, "1", code="other") != of(DOCUMENTS)
    assert contract_digest(DOCUMENTS, "1") == contract_digest(DOCUMENTS, "1", code=code_digest())


def test_members_in_another_order_are_the_same(reverse: Callable[[Any], Any]) -> None:
    assert of(reverse(DOCUMENTS)) == of(DOCUMENTS)


@pytest.fixture
def reverse() -> Callable[[Any], Any]:
    def turn(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turn(item) for key, item in reversed(value.items())}
        return [turn(item) for item in value] if isinstance(value, list) else value

    return turn


def test_the_code_that_judges_is_covered(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("engine.py", "checks/a.py", "checks/a_test_helper.py", "brand_new.py", "cli/verify.py", "report/x.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("1\n")
    monkeypatch.setattr(module, "_PACKAGE", tmp_path)
    first = code_digest()
    for name, judges in {
        "cli/verify.py": False,
        "report/x.py": False,
        "checks/a.py": True,
        "brand_new.py": True,
    }.items():
        (tmp_path / name).write_text("2\n")
        assert (code_digest() != first) is judges, name
        (tmp_path / name).write_text("1\n")
    (tmp_path / "checks/a.py").rename(tmp_path / "checks/b.py")
    assert code_digest() != first


def test_a_number_without_a_canonical_form_is_an_error() -> None:
    with pytest.raises(ContractError, match="RFC 8785"):
        of(edited("params", "params", "title", "value", value=2**63))
