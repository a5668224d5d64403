"""BF16 beside FP32: how far the two references are apart, where both saw the same input."""

from collections.abc import Iterable, Iterator
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
        return comparable(self.single, self.half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How much of what two runs computed from the same input is the same to the last bit, as shares.

    ``digests`` are of all logits of a step, ``values`` those logits that both keep.
    """

    steps: int
    digests: float
    values: float


def comparable(one: Output, other: Output) -> Iterator[tuple[int, Step, Step]]:
    """The steps two runs took from the same input: up to and with the first at which the tokens differ."""
    for number, (ours, theirs) in enumerate(zip(one.steps, other.steps, strict=False)):
        yield number, ours, theirs
        if ours.token != theirs.token:
            return


def likeness(pairs: Iterable[tuple[Output, Output]]) -> Likeness:
    """Count what is the same. Equal tokens are none of it: they need only the order of two logits."""
    steps, digests, kept, equal = 0, 0, 0, 0
    for one, other in pairs:
        for _, ours, theirs in comparable(one, other):
            left, right = ours.logits, theirs.logits
            both = left.keys() & right.keys()
            steps += 1
            digests += ours.logits_sha256 == theirs.logits_sha256
            kept += len(both)
            equal += sum(left[token] == right[token] for token in both)
    return Likeness(steps=steps, digests=digests / max(steps, 1), values=equal / max(kept, 1))


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
