"""The runbook's own examples, copied as they stand: they follow the schemas once their placeholders are filled."""

from typing import Any

import pytest

from calaudit.contract import Contract
from calaudit.evidence.strict_json import parse_json
from calaudit.evidence.strict_yaml import parse_yaml

SOURCE_MANIFEST = """{
  "schema":"calculet-model-source/v1",
  "model_id":"vendor/name@revision",
  "license":"SPDX-ID",
  "files":[{"path":"config.json","bytes":0,"sha256":"..."}],
  "architecture":{"layers":32,"hidden":4096,"q_heads":32,"kv_heads":8,"head_dim":128},
  "tokenizer":{"vocab_size":0,"sha256":"..."},
  "targets":{"context":[4096,8192],"batch":[1],"chips":[1]}
}
"""  # §4.3

EXPORT_CONFIG = """schema: calculet-onnx-export/v1
opset: VENDOR_CONFIRMED
external_data: true
constant_folding: false
profiles:
  prefill:
    input_ids: [1, 8192]
    position_ids: [1, 8192]
    valid_sequence_lengths: [1, 16, 128, 1024, 8191]
  decode:
    input_ids: [1, 1]
    position_ids: [1, 1]
    past_sequence_max: 8191
output:
  logits: [1, 1, VOCAB]
"""  # §6.2

DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def errors(contract: Contract, name: str, value: Any) -> list[tuple[str, str]]:
    return [(e.pointer, e.message) for e in contract.schemas.errors(name, value)]


@pytest.mark.parametrize("name", ["vendor/name@main", f"vendor/name@{'0' * 40}", "org/group/name@v1.0"])
def test_the_source_manifest(contract: Contract, name: str) -> None:
    filled = SOURCE_MANIFEST.replace('"..."', f'"{DIGEST}"').replace("vendor/name@revision", name)
    filled = filled.replace("SPDX-ID", "Apache-2.0").replace('"bytes":0', '"bytes":717')
    filled = filled.replace('"vocab_size":0', '"vocab_size":32000')
    assert errors(contract, "model-source/v1", parse_json(filled.encode())) == []


def test_the_export_config(contract: Contract) -> None:
    filled = EXPORT_CONFIG.replace("VENDOR_CONFIRMED", "20").replace("VOCAB", "32000")
    assert errors(contract, "onnx-export/v1", parse_yaml(filled.encode())) == []


def test_before_they_are_filled_only_placeholders_are_wrong(contract: Contract) -> None:
    words = contract.gates.placeholders
    for name, value in (
        ("model-source/v1", parse_json(SOURCE_MANIFEST.encode())),
        ("onnx-export/v1", parse_yaml(EXPORT_CONFIG.encode())),
    ):
        found = errors(contract, name, value)
        assert found
        for pointer, _ in found:
            at: Any = value
            for step in pointer.split("/")[1:]:
                at = at[int(step)] if isinstance(at, list) else at[step]
            assert words.is_placeholder(at), f"{name}{pointer}"
