"""The reference answered every question of the quality set, in both precisions.

Why: Quantization is judged by how much worse it answers than the reference did. A baseline without the single answers
is a number that somebody wrote.
Fix: Let the reference answer the whole quality set in FP32 and in BF16, and keep one line a sample in quality-
scores.jsonl, with the log-probability of the right answer where the target is a perplexity.
"""

import math
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import few, in_parts
from calaudit.facts.reference.quality import SCORES, SET, QualityFact
from calaudit.facts.reference.runs import DTYPES
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tokens.tokenizer import TokenizerFact
from calaudit.model import Result

NEXT_TOKEN = "next-token"  # noqa: S105 - a task
"""The task whose answers are the most likely token itself."""
_ROUNDING = 0.01
_CERTAIN = -1e-4
"""Above it float32 has few log-probabilities left, and two precisions may well give the same."""


@check("quality-baseline-missing", gate="G1")
def quality_baseline_missing(view: View) -> Iterator[Result]:
    """Match questions with answers, answers with their probabilities, texts with tokens."""
    yield from in_parts(view, _questions, _answers, _probabilities, _copies, _tokens)


def _questions(view: View) -> Iterator[Result]:
    quality, wanted = view.fact(QualityFact), view.number("quality_samples_min")
    if min(quality.distinct, quality.samples) < wanted:
        yield view.fail(
            "The quality set has too few different questions.",
            at=SET,
            expected=f"at least {wanted:g}",
            actual=min(quality.distinct, quality.samples),
        )
    seen: set[str] = set()
    contents: dict[tuple[object, ...], str] = {}
    for question in view.each(quality.questions):
        if question.sample_id in seen:
            yield view.fail(f"The sample id {question.sample_id} stands in more than one question.", at=question.at)
        elif question.content in contents:
            first = contents[question.content]
            yield view.fail(f"{question.sample_id} asks the same as {first}.", at=question.at)
        seen.add(question.sample_id)
        contents.setdefault(question.content, question.sample_id)


def _answers(view: View) -> Iterator[Result]:
    quality = view.fact(QualityFact)
    asked = {q.sample_id for q in quality.questions}
    for dtype in DTYPES:
        answered = sorted(s for s in view.each(asked) if (s, dtype) in quality.by_key)
        missing = sorted(asked.difference(answered))
        if missing:
            yield view.fail(
                f"{len(missing)} question(s) have no {dtype} answer: {few(missing)}.",
                at=SCORES,
                expected=f"{len(asked)} answers",
                actual=len(answered),
            )
    for (sample_id, dtype), scores in quality.by_key.items():
        if sample_id not in asked:
            yield view.fail(f"No question has the sample id {sample_id}.", at=scores[0].at)
        for score in scores[1:]:
            yield view.fail(f"This is a second {dtype} answer to {sample_id}.", at=score.at)


def _probabilities(view: View) -> Iterator[Result]:
    """The most likely token has at least its share of the vocabulary; any other has at most one half."""
    quality, least = view.fact(QualityFact), -math.log(view.fact(LimitsFact).vocab) - _ROUNDING
    questions = {q.sample_id: q for q in quality.questions if q.task == NEXT_TOKEN}
    for score in quality.scores:
        question = questions.get(score.sample_id)
        if question is None or score.logprob is None:
            continue
        right = score.answer == question.answer
        if score.logprob < least if right else score.logprob > -math.log(2) + _ROUNDING:
            yield view.fail(
                f"The {score.dtype} answer to {score.sample_id} is {'right' if right else 'wrong'}, which the "
                "log-probability of the right token rules out.",
                at=score.at,
                expected=f"at least {least:.4g}" if right else f"at most {-math.log(2):.4g}",
                actual=score.logprob,
            )


def _copies(view: View) -> Iterator[Result]:
    """Two precisions do not give right answers the very same probability, but where rounding leaves nothing to 1."""
    quality, most = view.fact(QualityFact), view.number("equal_logits_max")
    found = [{s.sample_id: s.logprob for s in quality.scores if s.dtype == dtype} for dtype in DTYPES]
    known = [(logprob, found[1].get(sample_id)) for sample_id, logprob in found[0].items() if logprob is not None]
    if known and found[0] == found[1]:
        yield view.fail("The BF16 answers have the very log-probabilities of the FP32 answers: a copy.", at=SCORES)
        return
    told = [(single, half) for single, half in known if single < _CERTAIN and half is not None]
    same = sum(single == half for single, half in told)
    if same > most * len(told):
        yield view.fail(
            "Too many BF16 answers have the very log-probability of the FP32 answer: a copy, in part. Let the BF16 "
            "reference answer the quality set.",
            at=SCORES,
            expected=f"at most {most:.0%} of {len(told)}",
            actual=same,
        )


def _tokens(view: View) -> Iterator[Result]:
    questions = view.fact(QualityFact).questions
    if not any(q.token_ids for q in questions):
        return
    tokenizer, vocab = view.fact(TokenizerFact), view.fact(LimitsFact).vocab
    for question in questions:
        ids = question.token_ids
        if ids is None:
            continue
        if max(ids, default=0) >= vocab:
            yield view.fail(
                f"A token id of {question.sample_id} is outside the vocabulary.",
                at=question.at,
                expected=f"below {vocab}",
                actual=max(ids),
            )
        elif question.text is not None and tokenizer.encode(question.text) != ids:
            yield view.fail(f"The tokenizer gives other tokens for the text of {question.sample_id}.", at=question.at)
