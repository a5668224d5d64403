"""Two validators, one verdict: the compiled one judges, the reference one must agree on whatever we can think of."""

from pathlib import Path
from typing import Any

import pytest

from calaudit.contract import Schema, Schemas
from calaudit.contract.reference import main_fault, reference_is_valid
from calaudit.contract.resources import data_root
from tests.schemas.mutate import mutants

SCHEMAS = Schemas(data_root() / "schemas")
EXAMPLES = [
    pytest.param(schema, example, id=f"{schema.name}-{number}")
    for schema in SCHEMAS.values()
    for number, example in enumerate(schema.document.get("examples", ()))
]


@pytest.mark.parametrize(("schema", "example"), EXAMPLES)
def test_the_validators_agree_on_every_mutant(schema: Schema, example: Any) -> None:
    assert schema.is_valid(example)
    assert reference_is_valid(schema, example)
    disagreements, refused = [], 0
    for change, mutant in mutants(schema.document, example):
        valid = schema.is_valid(mutant)
        refused += not valid
        assert bool(list(schema.errors(mutant))) is not valid, change
        if reference_is_valid(schema, mutant) is not valid:
            disagreements.append(f"{change}: {'valid' if valid else 'invalid'} to the compiled validator only")
    assert disagreements == []
    assert refused > 20


@pytest.mark.parametrize(("schema", "example"), EXAMPLES)
def test_what_is_required_or_unknown_is_noticed(schema: Schema, example: Any) -> None:
    for name in schema.document["required"]:
        assert not schema.is_valid({k: v for k, v in example.items() if k != name}), name
    if schema.name not in ("provenance/v1", "vsa/v1"):  # SLSA may say more
        assert not schema.is_valid({**example, "zz": 1})


def test_the_main_fault() -> None:
    schema = SCHEMAS["kickoff/v1"]
    example = schema.document["examples"][0]
    assert main_fault(schema, example) is None
    assert main_fault(schema, {**example, "vendor": 3}) == ("/vendor", "3 is not of type 'string'")
    found = main_fault(schema, {**example, "launch_date": "2026-02-30\n"})
    assert found is not None
    assert found[0] == "/launch_date"


def test_the_shipped_contract_documents(strict_yaml: Any) -> None:
    root = data_root() / "policies"
    kinds = {"gates.yaml": "gates/v1", "params.yaml": "params/v1"}
    files = [*root.glob("*.yaml"), *root.glob("profiles/*.yaml")]
    assert len(files) >= 5
    for path in files:
        schema = SCHEMAS[kinds.get(path.name) or _kind(path)]
        value = strict_yaml(path)
        assert [e.message for e in schema.errors(value)] == []
        assert reference_is_valid(schema, value)


def _kind(path: Path) -> str:
    if path.parent.name == "profiles":
        return "profile/v1"
    return "policy-test/v1" if path.name.endswith(".test.yaml") else "policy/v1"


@pytest.fixture
def strict_yaml() -> Any:
    from calaudit.evidence.strict_yaml import parse_yaml

    return lambda path: parse_yaml(path.read_bytes())
