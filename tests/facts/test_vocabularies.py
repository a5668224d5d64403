"""Older forms of a tokenizer beside it."""

import base64
import json
from pathlib import Path

import pytest

from calaudit.contract import Contract
from calaudit.evidence import gather
from calaudit.facts import Facts
from calaudit.facts.tokens.tokenizer import TOKENIZER
from calaudit.facts.tokens.vocabularies import OtherVocabulary, VocabulariesFact, _byte_letters, is_vocabulary
from tests.casebook import PORT

DEFINITION = json.loads((PORT / TOKENIZER).read_bytes())
VOCAB: dict[str, int] = DEFINITION["model"]["vocab"]
MERGES = [m if isinstance(m, str) else " ".join(m) for m in DEFINITION["model"]["merges"]]
LETTERS = {letter: byte for byte, letter in enumerate(_byte_letters())}


def compare(folder: Path, contract: Contract, name: str, data: str) -> OtherVocabulary:
    (folder / "00-source/hf-config").mkdir(parents=True)
    (folder / TOKENIZER).write_bytes((PORT / TOKENIZER).read_bytes())
    (folder / "00-source/hf-config" / name).write_text(data, "utf-8")
    facts = Facts(gather(folder, specs=contract.gates, schemas=contract.schemas), contract)
    (found,) = facts.get(VocabulariesFact).others
    return found


def tiktoken() -> str:
    names = sorted((number, token) for token, number in VOCAB.items() if all(c in LETTERS for c in token))
    lines = (f"{base64.b64encode(bytes(LETTERS[c] for c in token)).decode()} {number}" for number, token in names)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("vocab.json", json.dumps(VOCAB)),
        ("merges.txt", "#version: 0.2\n" + "\n".join(MERGES) + "\n"),
        ("x.tiktoken", tiktoken()),
        ("tokenizer.JSON", (PORT / TOKENIZER).read_text("utf-8")),
    ],
)
def test_the_same(tmp_path: Path, contract: Contract, name: str, data: str) -> None:
    found = compare(tmp_path, contract, name, data)
    assert (found.agrees, found.difference) == (True, "")


@pytest.mark.parametrize(
    ("name", "data", "agrees"),
    [
        ("vocab.json", json.dumps({**VOCAB, "a": 7}), False),
        ("vocab.json", json.dumps({**VOCAB, "stranger": 7}), False),
        ("vocab.json", json.dumps({k: v for k, v in VOCAB.items() if k != "a"}), False),
        ("vocab.json", "[]", None),
        ("vocab.json", '{"a": "b"}', None),
        ("vocab.json", "{", None),
        ("merges.txt", "#version: 0.2\n" + "\n".join(MERGES[:-1]) + "\n", False),
        ("merges.txt", "\n".join(reversed(MERGES)) + "\n", False),
        ("merges.txt", "", False),
        ("x.tiktoken", "YQ== 7\n", False),
        ("x.tiktoken", "YQ== x\n", None),
        ("tokenizer.model", "x", None),
        ("special_tokens_map.json", '{"eos_token": 7}', False),
    ],
)
def test_another(tmp_path: Path, contract: Contract, name: str, data: str, agrees: bool | None) -> None:
    found = compare(tmp_path, contract, name, data)
    assert found.agrees is agrees
    assert found.difference


def test_names() -> None:
    assert is_vocabulary("07-serving/Tokenizer.json")
    assert not is_vocabulary("00-source/hf-config/tokenizer_config.json")
