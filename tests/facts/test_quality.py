"""Scores from single answers."""

import math

import pytest

from calaudit.facts.reference.quality import Answer, Baseline, QualitySample, QualityScore, baseline
from calaudit.model import Location

AT = Location(path="x")


def question(sample_id: str, answer: Answer) -> QualitySample:
    return QualitySample(at=AT, sample_id=sample_id, task="t", text=sample_id, token_ids=None, answer=answer)


def score(sample_id: str, answer: Answer, logprob: float | None = None) -> QualityScore:
    return QualityScore(at=AT, sample_id=sample_id, dtype="float32", answer=answer, logprob=logprob)


QUESTIONS = [question("a", 1), question("b", "2"), question("c", 3)]


def test_accuracy_and_perplexity() -> None:
    found = baseline(QUESTIONS, [score("a", 1, -1.0), score("b", "2", -2.0), score("c", 4, -3.0)])
    assert found == Baseline(samples=3, accuracy=2 / 3, perplexity=math.exp(2.0))


def test_a_number_is_not_its_text() -> None:
    assert baseline(QUESTIONS, [score("b", 2)]).accuracy == 0.0


def test_strangers_do_not_count() -> None:
    assert baseline(QUESTIONS, [score("a", 1), score("z", 1)]) == Baseline(samples=1, accuracy=1.0, perplexity=None)


def test_one_missing_log_probability_leaves_no_perplexity() -> None:
    assert baseline(QUESTIONS, [score("a", 1, -1.0), score("c", 3)]).perplexity is None


@pytest.mark.parametrize("logprob", [-1e9, -701.0])
def test_a_perplexity_that_no_float_holds(logprob: float) -> None:
    assert baseline(QUESTIONS, [score("a", 1, logprob)]).perplexity is None


def test_nothing() -> None:
    assert baseline([], []) == Baseline(samples=0, accuracy=None, perplexity=None)
