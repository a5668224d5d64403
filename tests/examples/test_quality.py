"""The quality baseline: its samples, and its scores by hand."""

import math

import numpy as np
import pytest
from tokenizers import Tokenizer

from examples.toolchain import build
from examples.toolchain.quality import score, summary
from tests.casebook import PORT
from tests.harness.small_port import records


def test_every_sample_s_text_is_its_tokens_and_its_answer_follows():
    tokenizer = Tokenizer.from_file(str(PORT / "00-source/hf-config/tokenizer.json"))
    samples = records(build.HERE / "data" / "held-out.jsonl")
    assert len(samples) == 200
    for sample in samples:
        assert tokenizer.encode(sample["text"]).ids == sample["token_ids"]
        longer = sample["text"] + tokenizer.decode([sample["answer"]], skip_special_tokens=False)
        assert tokenizer.encode(longer).ids == [*sample["token_ids"], sample["answer"]]


def test_a_score_is_the_answer_and_the_probability_of_the_right_one():
    class Fixed:
        def begin(self):
            return self

        def feed(self, _token_ids):
            return np.log(np.array([0.5, 0.25, 0.125, 0.125], np.float32))

    samples = [{"sample_id": f"s{n}", "token_ids": [1], "answer": n} for n in (0, 1)]
    scores = list(score(Fixed(), "float32", samples))
    assert [s["answer"] for s in scores] == [0, 0]
    assert [s["logprob"] for s in scores] == pytest.approx([math.log(0.5), math.log(0.25)], abs=1e-6)
    assert summary(samples, scores) == {"accuracy": 0.5, "perplexity": pytest.approx(math.sqrt(8), abs=1e-5)}
