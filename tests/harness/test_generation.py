"""Greedy generation and its records."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.errors import Malformed
from calaudit.harness.feeds import feeds
from calaudit.harness.generation import Limits, NotFiniteError, answer_record, generate, step_record


@dataclass
class Counting:
    """A decoder over ten tokens that answers with the token after the last one; ``spoiled`` answers with NaN."""

    spoiled: int | None = None

    def begin(self):
        return CountingSequence(self.spoiled)


class CountingSequence:
    def __init__(self, spoiled):
        self.spoiled = spoiled
        self.calls = []

    def feed(self, token_ids):
        self.calls.append(list(token_ids))
        logits = np.zeros(10, np.float32)
        logits[(token_ids[-1] + 1) % 10] = 1
        if token_ids[-1] == self.spoiled:
            logits[0] = np.nan
        return logits


def tokens(decoder, prompt, **limits):
    bound = Limits(**({"context": 8, "max_new_tokens": 4, "eos": None} | limits))
    return [int(s.argmax()) for s in generate(decoder, prompt, bound)]


def test_it_stops_after_so_many_tokens():
    assert tokens(Counting(), [1, 2]) == [3, 4, 5, 6]


def test_it_stops_after_eos_and_keeps_it():
    assert tokens(Counting(), [1, 2], eos=4) == [3, 4]


def test_it_stops_when_the_context_is_full():
    assert tokens(Counting(), [1, 2], context=3) == [3, 4]
    assert tokens(Counting(), [1, 2], context=2) == [3]


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20))
def test_a_legal_prompt_gives_a_token_and_never_more_than_fit(context, length, wanted):
    limits = Limits(context=context, max_new_tokens=wanted, eos=None)
    if length <= context:
        budget = limits.budget(length)
        assert 1 <= budget <= wanted
        assert length + budget - 1 <= context  # the last token is never fed back


def test_a_prompt_that_is_too_long_is_refused():
    record = answer_record(Counting(), "s", "float32", [1] * 9, Limits(context=8, max_new_tokens=4, eos=None))
    assert record == {
        "sample_id": "s",
        "dtype": "float32",
        "refused": {"code": "context_length_exceeded", "limit": 8, "length": 9},
    }


def test_a_logit_that_is_not_finite_is_an_error():
    with pytest.raises(NotFiniteError, match="step 1 has 1 logits that are not finite"):
        tokens(Counting(spoiled=3), [1, 2])


def test_a_step_keeps_exact_float32_values_and_the_lowest_of_equals():
    logits = np.array([0.1, 3.3, -1, 3.3, 2], np.float32)
    record = step_record(logits)
    assert record["token"] == 1
    assert record["margin"] == 0.0
    assert [i for i, _ in record["top"]] == [1, 3, 4, 0]
    assert [np.float32(v) for _, v in record["top"]] == [logits[i] for i in (1, 3, 4, 0)]
    assert record["logits_sha256"] == hashlib.sha256(logits.astype("<f4").tobytes()).hexdigest()


@pytest.mark.parametrize(
    ("profile", "step", "expected"),
    [
        ("prefill", 0, [[1, 2, 3]]),
        ("decode", 0, [[1, 2], [3]]),
        ("decode", 1, [[1, 2, 3], [7]]),
        ("decode", 2, [[1, 2, 3], [7], [8]]),
    ],
)
def test_feeds(profile, step, expected):
    assert [list(call) for call in feeds([1, 2, 3], [7, 8], profile, step)] == expected


def test_feeds_of_a_single_token():
    assert feeds([5], [7], "decode", 0) == [[5]]


@pytest.mark.parametrize(("profile", "step"), [("prefill", 1), ("decode", 3), ("decode", -1), ("other", 0)])
def test_feeds_that_do_not_exist(profile, step):
    with pytest.raises(Malformed, match="There is no"):
        feeds([1, 2, 3], [7, 8], profile, step)
