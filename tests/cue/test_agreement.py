"""The CUE definitions and the JSON Schemas say the same of every document that we can think of."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from calaudit.contract import Schemas
from calaudit.contract.resources import data_root
from calaudit.cue import Cue
from calaudit.evidence.strict_json import parse_json
from calaudit.evidence.strict_yaml import parse_yaml
from tests.cue.batch import refused
from tests.cue.conftest import ROOT
from tests.schemas.mutate import mutants

SCHEMAS = Schemas(data_root() / "schemas")
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "cue_definitions.py"))
NAMES: tuple[str, ...] = SCRIPT["DOCUMENTS"]
PORT = ROOT / "examples" / "model-port" / "tiny-dense"

FILES = {
    "port.yaml": "port",
    "00-source/source-manifest.json": "model-source",
    "01-reference/prompts.jsonl": "prompt",
    "01-reference/tokens.jsonl": "token-record",
    "01-reference/outputs.jsonl": "output-record",
    "01-reference/quality-set.jsonl": "quality-sample",
    "01-reference/quality-scores.jsonl": "quality-score",
    "01-reference/reference-report.json": "reference-report",
    "01-reference/run-2/reference-report.json": "reference-report",
    "01-reference/run-2/outputs.jsonl": "output-record",
    "01-reference/run-2/tokens.jsonl": "token-record",
    "01-reference/tokenizer-conformance.json": "tokenizer-conformance",
    "01-reference/tensor-golden/index.json": "tensor-index",
    "02-onnx/export-config.yaml": "onnx-export",
    "02-onnx/op-inventory.json": "op-inventory",
    "02-onnx/onnx-report.json": "onnx-report",
    "02-onnx/onnx-outputs.jsonl": "output-record",
    "02-onnx/tensors/index.json": "tensor-index",
    "configs/shape-matrix.yaml": "shape-matrix",
    "vendor/op-matrix.yaml": "op-matrix",
    "vendor/kickoff.json": "kickoff",
}

EVERY = 8
"""Of a JSONL file every eighth record is vetted: they are alike, and cue needs a second for 300 of the long ones."""


def known_difference(name: str, document: Any) -> bool:
    """Whether the two languages differ on purpose.

    A record may hold ``4.0`` for an integer: JSON Schema says that these are one number, and of a million records none
    is looked at twice. CUE keeps the two apart, as calaudit does itself in documents.
    """
    return SCHEMAS[f"{name}/v1"].is_for_records and _has_whole_float(document)


def _has_whole_float(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_whole_float, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()


def disagreements(cue: Cue, folder: Path, name: str, cases: list[tuple[str, Any]]) -> tuple[list[str], int]:
    """What one side alone refuses, in words, and how many both refuse."""
    schema = SCHEMAS[f"{name}/v1"]
    by_cue = refused(cue, folder, SCRIPT["camel"](name), [document for _, document in cases])
    by_schema = {number for number, (_, document) in enumerate(cases) if not schema.is_valid(document)}
    found = [
        f"{cases[number][0]}: {'the schema' if number in by_schema else 'CUE'} alone refuses it"
        for number in sorted(by_cue ^ by_schema)
        if number in by_schema or not known_difference(name, cases[number][1])
    ]
    return found, len(by_cue & by_schema)


@pytest.mark.parametrize("name", NAMES)
def test_examples_and_their_mutants(name: str, cue: Cue, tmp_path: Path) -> None:
    schema = SCHEMAS[f"{name}/v1"].document
    examples = [(f"example {number}", example) for number, example in enumerate(schema["examples"])]
    changed = [case for _, example in examples for case in mutants(schema, example)]
    assert all(SCHEMAS[f"{name}/v1"].is_valid(example) for _, example in examples)
    found, both = disagreements(cue, tmp_path, name, examples + changed)
    assert found == []
    assert both > 50


def test_a_record_with_a_whole_float_is_the_only_known_difference(cue: Cue, tmp_path: Path) -> None:
    record = {"sample_id": "a", "dtype": "float32", "token_ids": [4.0]}
    assert SCHEMAS.is_valid("token-record/v1", record)
    assert refused(cue, tmp_path, "TokenRecord", [record, {**record, "token_ids": [4]}]) == {0}


@pytest.mark.parametrize("file", FILES)
def test_the_example_port(file: str, cue: Cue, tmp_path: Path) -> None:
    name, path = FILES[file], PORT / file
    schema = SCHEMAS[f"{name}/v1"].document
    if path.suffix == ".jsonl":
        lines = path.read_bytes().splitlines()
        documents = [parse_json(line) for line in (lines[0], lines[-1], *lines[1:-1:EVERY])]
    elif path.suffix == ".yaml":
        documents = [parse_yaml(path.read_bytes())]
    else:
        documents = [parse_json(path.read_bytes())]
    whole = [(f"record {number}", document) for number, document in enumerate(documents)]
    assert all(SCHEMAS[f"{name}/v1"].is_valid(document) for _, document in whole)
    first = shortened(documents[0])
    gaps = [
        (words, changed)
        for words, changed in mutants(schema, first)
        if words.startswith("with") or words.endswith("None")
    ]
    found, both = disagreements(cue, tmp_path, name, whole + gaps)
    assert found == []
    assert both >= len(schema["required"])


def test_every_document_of_the_example_port_is_vetted() -> None:
    tags = {SCHEMAS[f"{name}/v1"].tag for name in NAMES} - {None}
    records = {path for path in PORT.rglob("*.jsonl") if path.relative_to(PORT).parts[0] in ("01-reference", "02-onnx")}
    documents = {path: parse_json(path.read_bytes(), foreign=True) for path in PORT.rglob("*.json")}
    documents |= {path: parse_yaml(path.read_bytes()) for path in PORT.rglob("*.yaml")}
    tagged = {path for path, found in documents.items() if isinstance(found, dict) and found.get("schema") in tags}
    assert {path.relative_to(PORT).as_posix() for path in records | tagged} == FILES.keys()


def shortened(value: Any) -> Any:
    """A copy whose lists hold at most three items, so that what is made from it is small."""
    if isinstance(value, dict):
        return {key: shortened(child) for key, child in value.items()}
    return [shortened(child) for child in value[:3]] if isinstance(value, list) else value
