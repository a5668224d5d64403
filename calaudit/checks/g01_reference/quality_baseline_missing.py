"""The reference answered every question of the quality set, in both precisions.

Why: Quantization is judged by how much worse it answers than the reference did. A baseline without the single answers
is a number that somebody wrote.
Fix: Let the reference answer the whole quality set in FP32 and in BF16, and keep one line a sample in quality-
scores.jsonl, with the log-probability of the right answer where the target is a perplexity.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import few, in_parts
from calaudit.facts.limits import LimitsFact
from calaudit.facts.quality import SCORES, SET, QualityFact
from calaudit.facts.reference import DTYPES
from calaudit.facts.tokenizer import TokenizerFact
from calaudit.model import Result


@check("quality-baseline-missing", gate="G1")
def quality_baseline_missing(view: View) -> Iterator[Result]:
    """Match questions with answers; texts with tokens."""
    yield from in_parts(view, _questions, _answers, _tokens)


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


def _tokens(view: View) -> Iterator[Result]:
    questions = view.fact(QualityFact).questions
    if not any(q.token_ids for q in questions):
        return
    tokenizer, vocab = view.fact(TokenizerFact), view.fact(LimitsFact).vocab
    for question in questions:
        ids = question.token_ids
        if ids is None:
            continue
        if any(i >= vocab for i in ids):
            yield view.fail(
                f"A token id of {question.sample_id} is outside the vocabulary.",
                at=question.at,
                expected=f"below {vocab}",
                actual=max(ids),
            )
        elif question.text is not None and tokenizer.encode(question.text) != ids:
            yield view.fail(f"The tokenizer gives other tokens for the text of {question.sample_id}.", at=question.at)
