"""Every document of the example port follows its schema, to both validators."""

import pytest

from calaudit.contract import Contract
from calaudit.contract.reference import reference_is_valid
from calaudit.evidence.jsonl import read_lines
from calaudit.evidence.strict_json import parse_json
from calaudit.evidence.strict_yaml import parse_yaml
from calaudit.model import ArtifactSpec, Format, Json
from tests.casebook import PORT

SPARSE = 7
"""The reference validator takes milliseconds a record: it sees every so many."""


def values(spec: ArtifactSpec) -> list[Json]:
    data = (PORT / spec.pattern).read_bytes()
    if spec.format is Format.JSONL:
        return [record.value for record in read_lines(data)]
    return [parse_yaml(data) if spec.format is Format.YAML else parse_json(data)]


def test_every_document_follows_its_schema(contract: Contract) -> None:
    specs = [s for s in contract.gates.artifacts() if s.schema is not None and (PORT / s.pattern).is_file()]
    if not specs:
        pytest.fail("the example port has no document: build it with `make port`")
    for spec in specs:
        assert spec.schema is not None
        schema = contract.schemas[spec.schema]
        found = values(spec)
        assert found, spec.pattern
        for number, value in enumerate(found):
            assert [(e.pointer, e.message) for e in schema.errors(value)] == [], f"{spec.pattern}, value {number}"
            assert schema.is_valid(value)
            assert number % SPARSE or reference_is_valid(schema, value), f"{spec.pattern}, value {number}"


def test_the_example_port_shows_every_schema_of_a_port_document(contract: Contract) -> None:
    shown = {s.schema for s in contract.gates.artifacts() if s.schema and (PORT / s.pattern).is_file()}
    assert {s.schema for s in contract.gates.artifacts() if s.schema} - shown <= {"code-audit/v1", "rebuild-report/v1"}
