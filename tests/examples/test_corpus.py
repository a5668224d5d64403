"""The prompt corpus: every record is what its label says, and its text is its tokens."""

import pytest
from tokenizers import Tokenizer

from examples.toolchain.corpus import BOUNDARY_LENGTHS, listing, text_of_length
from examples.toolchain.prompts import prompt_records, sample_of_length
from tests.casebook import PORT

CONTEXT = 2048


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.from_file(str(PORT / "00-source/hf-config/tokenizer.json"))


@pytest.fixture(scope="module")
def records(tokenizer):
    return list(prompt_records(tokenizer, CONTEXT))


def test_there_are_enough_and_no_two_are_the_same(records):
    legal = [r for r in records if "expected_refusal" not in r]
    assert len(legal) >= 100
    assert len(records) - len(legal) >= 2
    assert len({r["sample_id"] for r in records}) == len(records)
    assert len({tuple(r["token_ids"]) for r in records}) == len(records)


def test_every_text_is_its_tokens(records, tokenizer):
    for record in records:
        ids = tokenizer.encode(record["text"]).ids
        assert record["token_ids"] == ids
        assert record["attention_mask"] == [1] * len(ids)
        assert record["position_ids"] == list(range(len(ids)))


def test_all_categories_are_there(records):
    assert {r["category"] for r in records} == {
        "shortest", "special-tokens", "multilingual", "code", "numbers", "repetition", "near-max-context", "over-length"
    }  # fmt: skip


def test_boundary_samples_have_exactly_their_length(records):
    lengths = {r["sample_id"]: len(r["token_ids"]) for r in records}
    assert [lengths[sample_of_length(n)] for n in BOUNDARY_LENGTHS] == [1, 16, 128, 1024, 2047]


def test_a_context_that_is_shorter_makes_labels_false(tokenizer):
    with pytest.raises(ValueError, match="does not show near-max-context"):
        list(prompt_records(tokenizer, 1500))


def test_a_text_of_a_length_is_found_or_refused(tokenizer):
    text = listing(3)
    for length in range(1, 60):
        assert len(tokenizer.encode(text_of_length(tokenizer, text, length)).ids) == length
    with pytest.raises(ValueError, match="fewer than 5000"):
        text_of_length(tokenizer, text, 5000)
