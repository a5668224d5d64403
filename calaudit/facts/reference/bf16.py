"""BF16 beside FP32: how far the two references are apart, where both saw the same input."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.facts import Facts, internal
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.reference.runs import BFLOAT16, FLOAT32, Output, OutputsFact, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One legal prompt that was answered in both precisions."""

    single: Output
    half: Output

    def comparable(self) -> Iterator[tuple[int, Step, Step]]:
        """The steps both took from the same input: up to and with the first at which the tokens differ."""
        for number, (single, half) in enumerate(zip(self.single.steps, self.half.steps, strict=False)):
            yield number, single, half
            if single.token != half.token:
                return

    @property
    def copied(self) -> bool:
        """Whether every step of the BF16 run has the very logits of the FP32 run."""
        steps = zip(self.single.steps, self.half.steps, strict=False)
        same = (s.logits_sha256 == h.logits_sha256 or s.top == h.top for s, h in steps)
        return len(self.single.steps) == len(self.half.steps) and all(same)


@dataclass(frozen=True, kw_only=True)
class Bf16Fact:
    """The numbers of ``reference-report.json#/bf16``, recomputed. None: nothing gives it.

    Logits are compared at the first step; the smallest margin is that of any FP32 step.
    """

    name: ClassVar[str] = "bf16"

    samples: int
    max_abs_top_logit_diff: float | None
    token_disagreements: int
    min_fp32_margin: float | None
    pairs: tuple[Pair, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Pair the outputs; MissingFact where prompts or outputs are missing."""
        outputs = facts.get(OutputsFact).by_key
        pairs = []
        for prompt in facts.get(PromptsFact).legal:
            single, half = outputs.get((prompt.sample_id, FLOAT32)), outputs.get((prompt.sample_id, BFLOAT16))
            if single is not None and half is not None and single.steps and half.steps:
                pairs.append(Pair(single=single, half=half))
        first = [(pair.single.steps[0], pair.half.steps[0]) for pair in pairs]
        differences = [d for single, half in first if (d := difference(single, half)) is not None]
        return cls(
            samples=len(pairs),
            max_abs_top_logit_diff=max(differences, default=None),
            token_disagreements=sum(pair.single.tokens != pair.half.tokens for pair in pairs),
            min_fp32_margin=min((step.margin for pair in pairs for step in pair.single.steps), default=None),
            pairs=tuple(pairs),
        )


def difference(single: Step, half: Step) -> float | None:
    """How far BF16's logit of FP32's token is from FP32's; None where the BF16 record does not keep it."""
    token, logit = single.top[0]
    found = half.logits.get(token)
    return None if found is None else abs(logit - found)


def top_differences(one: Step, other: Step) -> list[tuple[float, int]]:
    """How far two steps are apart at least, token by token: a token that a list lacks is not above the list's last."""
    ours, theirs = one.logits, other.logits
    apart = [(abs(logit - theirs[token]), token) for token, logit in one.top if token in theirs]
    if len(apart) < len(one.top):
        apart += [(logit - other.top[-1][1], token) for token, logit in one.top if token not in theirs]
    if ours.keys() != theirs.keys():
        apart += [(logit - one.top[-1][1], token) for token, logit in other.top if token not in ours]
    return apart
