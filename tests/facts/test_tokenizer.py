"""A tokenizer from outside: what it does, and that nothing in it brings the audit down."""

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calaudit.contract import Contract
from calaudit.errors import MissingFact
from calaudit.evidence import gather
from calaudit.facts import Facts
from calaudit.facts.tokens.tokenizer import TOKENIZER, TokenizerFact, _guarded
from tests.casebook import PORT

Definition = dict[str, Any]


@pytest.fixture
def load(tmp_path: Path, contract: Contract) -> Callable[[Definition | str], TokenizerFact]:
    def act(definition: Definition | str) -> TokenizerFact:
        path = tmp_path / TOKENIZER
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(definition if isinstance(definition, str) else json.dumps(definition), "utf-8")
        return Facts(gather(tmp_path, specs=contract.gates, schemas=contract.schemas), contract).get(TokenizerFact)

    return act


@pytest.fixture
def definition() -> Definition:
    found: Definition = json.loads((PORT / TOKENIZER).read_bytes())
    return found


def test_what_it_is(load: Callable[[Definition], TokenizerFact], definition: Definition) -> None:
    found = load(definition)
    assert (found.kind, found.vocab_size, found.max_id, found.prefix, found.suffix) == ("BPE", 1024, 1023, (1,), ())
    assert found.special == {"<|bos|>": 1, "<|eos|>": 2, "<|im_end|>": 4, "<|im_start|>": 3, "<|pad|>": 0}
    assert found.decode(found.encode("你好 <|eos|>")) == "<|bos|>你好 <|eos|>"
    assert found.encode("a") == (1, *found.encode_bare("a"))
    assert found.encode("") == (1,)


def test_it_is_not_cut_short_or_padded(load: Callable[[Definition], TokenizerFact], definition: Definition) -> None:
    whole = load(definition).encode("one two three four five six")
    definition["truncation"] = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    definition["padding"] = {
        "strategy": {"Fixed": 1 << 40}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "<|pad|>",
    }  # fmt: skip
    assert load(definition).encode("one two three four five six") == whole


@pytest.mark.parametrize("ids", [(5000,), (-1,)])
def test_ids_out_of_range(
    load: Callable[[Definition], TokenizerFact], definition: Definition, ids: tuple[int, ...]
) -> None:
    with pytest.raises(MissingFact, match="beyond the tokenizer's last id"):
        load(definition).decode(ids)


HOSTILE: dict[str, dict[str, Any]] = {
    "a template that names what it does not define": {"post_processor/special_tokens": {}},
    "the same in a sequence": {
        "post_processor": {
            "type": "Sequence",
            "processors": [
                {
                    "type": "TemplateProcessing",
                    "single": [{"Sequence": {"id": "A", "type_id": 0}}],
                    "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}],
                    "special_tokens": {"</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}},
                }
            ],
        }
    },
    "dropout": {"model/dropout": 0.5},
    "a text that grows": {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 100}] * 6,
        }
    },
    "no model": {"model": None},
    "no tokens": {"model/vocab": {}, "model/merges": [], "added_tokens": []},
    "merges of nothing": {"model/merges": [["no", "such"]]},
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_hostile(load: Callable[[Definition], TokenizerFact], definition: Definition, change: dict[str, Any]) -> None:
    hostile = copy.deepcopy(definition)
    for place, value in change.items():
        *parents, last = place.split("/")
        node = hostile
        for name in parents:
            node = node[name]
        node[last] = value
    with pytest.raises(MissingFact):
        load(hostile)


def test_a_panic_is_the_fault_of_the_file(
    load: Callable[[Definition], TokenizerFact], definition: Definition, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(MissingFact, match="fails on tokenizer"):
        load(definition | {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}})
    assert "panicked" in capfd.readouterr().err  # the library's own words, which nobody can keep back


@pytest.mark.parametrize("text", ["[]", "{}", "7", "{", '{"model": {"type": "BPE"}, "model": null}', ""])
def test_no_tokenizer_at_all(load: Callable[[str], TokenizerFact], text: str) -> None:
    with pytest.raises(MissingFact):
        load(text)


def test_a_regular_expression_without_end(load: Callable[[Definition], TokenizerFact], definition: Definition) -> None:
    definition["pre_tokenizer"] = {
        "type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False,
    }  # fmt: skip
    found = load(definition)
    with pytest.raises(MissingFact, match="fails on"):
        found.encode("a" * 40 + "b")


def test_an_interrupt_is_no_fault_of_the_file() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _guarded(interrupt)


def test_without_the_library(
    load: Callable[[Definition], TokenizerFact], definition: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(MissingFact, match=r"pip install 'calaudit\[tokenizers\]'"):
        load(definition)


def test_the_good_port(tmp_path: Path, contract: Contract) -> None:
    shutil.copytree(PORT / "00-source", tmp_path / "00-source")
    facts = Facts(gather(tmp_path, specs=contract.gates, schemas=contract.schemas), contract)
    assert facts.get(TokenizerFact) is facts.get(TokenizerFact)
