"""The quality baseline: what the reference answers to the quality set, sample by sample, and the scores that follow."""

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from calaudit.evidence import Record
from calaudit.facts import Facts, internal
from calaudit.facts.reference.runs import DTYPES, FLOAT32, Key
from calaudit.model import Location

SET = "01-reference/quality-set.jsonl"
SCORES = "01-reference/quality-scores.jsonl"

Answer = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitySample:
    """One question: a text, its tokens, or both."""

    at: Location
    sample_id: str
    task: str
    text: str | None
    token_ids: tuple[int, ...] | None
    answer: Answer

    @property
    def content(self) -> tuple[object, ...]:
        """What is asked, for finding copies: blanks and forms of one letter make no other question of it."""
        if self.text is None:
            return (self.task, self.token_ids)
        return (self.task, " ".join(unicodedata.normalize("NFKC", self.text).split()))


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityScore:
    """What the model answered to one question in one dtype; ``logprob`` is of the right answer, natural."""

    at: Location
    sample_id: str
    dtype: str
    answer: Answer
    logprob: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The scores of one dtype; a number is None where the answers do not give it."""

    samples: int
    accuracy: float | None
    perplexity: float | None


@dataclass(frozen=True, kw_only=True)
class QualityFact:
    """The quality set, the answers, and the scores recomputed from them."""

    name: ClassVar[str] = "quality"

    samples: int
    distinct: int
    """Questions that differ."""
    answers: int
    float32: Baseline
    bfloat16: Baseline
    questions: tuple[QualitySample, ...] = internal()
    scores: tuple[QualityScore, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read set and answers; MissingFact where either is absent or not well-formed."""
        questions = tuple(_sample(record) for record in facts.evidence.records(SET))
        scores = tuple(_score(record) for record in facts.evidence.records(SCORES))
        baselines = {dtype: baseline(questions, [s for s in scores if s.dtype == dtype]) for dtype in DTYPES}
        return cls(
            samples=len({q.sample_id for q in questions}),
            distinct=len({q.content for q in questions}),
            answers=len(scores),
            questions=questions,
            scores=scores,
            **baselines,
        )

    @cached_property
    def by_key(self) -> Mapping[Key, Sequence[QualityScore]]:
        """The answers of every sample and dtype."""
        found: dict[Key, list[QualityScore]] = {}
        for score in self.scores:
            found.setdefault((score.sample_id, score.dtype), []).append(score)
        return found

    @cached_property
    def commonest(self) -> float | None:
        """The accuracy of whoever gives the commonest answer of its task to every question, and reads none."""
        counts = Counter((q.task, type(q.answer), q.answer) for q in self.questions)
        most: dict[str, int] = {}
        for (task, _, _), count in counts.items():
            most[task] = max(most.get(task, 0), count)
        return sum(most.values()) / len(self.questions) if self.questions else None

    def of(self, dtype: str) -> Baseline:
        """The scores of one dtype."""
        return self.float32 if dtype == FLOAT32 else self.bfloat16


def baseline(questions: Sequence[QualitySample], scores: Sequence[QualityScore]) -> Baseline:
    """The scores of one dtype: the share of right answers, and exp of the mean negative log-probability."""
    right = {q.sample_id: q.answer for q in questions}
    asked = [s for s in scores if s.sample_id in right]
    logprobs = [s.logprob for s in asked if s.logprob is not None]
    correct = sum(_same(s.answer, right[s.sample_id]) for s in asked)
    return Baseline(
        samples=len(asked),
        accuracy=correct / len(asked) if asked else None,
        perplexity=_perplexity(logprobs) if asked and len(logprobs) == len(asked) else None,
    )


def _perplexity(logprobs: Sequence[float]) -> float | None:
    mean = math.fsum(logprobs) / len(logprobs)
    return math.exp(-mean) if -mean < 700 else None


def _same(left: Answer, right: Answer) -> bool:
    return type(left) is type(right) and left == right


def _sample(record: Record) -> QualitySample:
    value: Mapping[str, Any] = record.value
    ids = value.get("token_ids")
    return QualitySample(
        at=Location(path=SET, line=record.line),
        sample_id=value["sample_id"],
        task=value["task"],
        text=value.get("text"),
        token_ids=None if ids is None else tuple(ids),
        answer=value["answer"],
    )


def _score(record: Record) -> QualityScore:
    value: Mapping[str, Any] = record.value
    logprob = value.get("logprob")
    return QualityScore(
        at=Location(path=SCORES, line=record.line),
        sample_id=value["sample_id"],
        dtype=value["dtype"],
        answer=value["answer"],
        logprob=None if logprob is None else float(logprob),
    )
