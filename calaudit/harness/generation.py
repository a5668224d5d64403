"""Greedy generation over anything that continues a sequence, and the records that say what came out.

A *decoder* begins sequences; a sequence is fed token ids and answers with the logits after the last of them. The numpy
reference and the ONNX graph are decoders, so both are driven by the same loop and describe a step in the same words.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calaudit.model import Json

__all__ = [
    "TOP_LOGITS",
    "Decoder",
    "Limits",
    "Logits",
    "NotFiniteError",
    "TokenSequence",
    "answer_record",
    "generate",
    "step_record",
]

Logits: TypeAlias = NDArray[np.float32]

TOP_LOGITS = 4
"""How many of the largest logits a step's record keeps."""


class NotFiniteError(ValueError):
    """A logit is NaN or infinite, so nothing can be said of the step."""


class TokenSequence(Protocol):
    """One growing sequence and its key/value cache."""

    def feed(self, token_ids: Sequence[int]) -> Logits:
        """Append token ids; the float32 logits over the vocabulary after the last of them."""
        ...


class Decoder(Protocol):
    """A model that can begin sequences."""

    def begin(self) -> TokenSequence:
        """A new, empty sequence."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When generation stops: after ``max_new_tokens``, after ``eos``, or when the context is full.

    A prompt of up to ``context`` tokens is legal. The last token of a full context still predicts one more, which
    cannot be fed back; so a prompt of n tokens gives at most ``context - n + 1`` tokens. A longer prompt is refused.
    """

    context: int
    max_new_tokens: int
    eos: int | None

    def budget(self, prompt_length: int) -> int:
        """How many tokens a prompt of this length may give."""
        return min(self.max_new_tokens, self.context - prompt_length + 1)


def generate(decoder: Decoder, token_ids: Sequence[int], limits: Limits) -> list[Logits]:
    """The logits of every greedy step; the token of a step is the argmax of its logits.

    Raises:
        NotFiniteError: a logit is NaN or infinite.
    """
    sequence = decoder.begin()
    fed: Sequence[int] = token_ids
    steps: list[Logits] = []
    for _ in range(limits.budget(len(token_ids))):
        logits = sequence.feed(fed)
        if not np.isfinite(logits).all():
            raise NotFiniteError(
                f"step {len(steps)} has {int((~np.isfinite(logits)).sum())} logits that are not finite"
            )
        steps.append(logits)
        token = int(logits.argmax())
        if token == limits.eos:
            break
        fed = [token]
    return steps


def step_record(logits: Logits) -> dict[str, Json]:
    """What is kept of one step: the token, its margin, the largest logits, and the SHA-256 of them all.

    Numbers are the float32 values exactly; the digest is over little-endian float32.
    Of equal logits the lowest id wins.
    """
    order = np.argsort(-logits, kind="stable")[:TOP_LOGITS]
    top: list[Json] = [[int(i), float(logits[i])] for i in order]
    return {
        "token": int(order[0]),
        "margin": float(logits[order[0]]) - float(logits[order[1]]),
        "top": top,
        "logits_sha256": hashlib.sha256(logits.astype("<f4").tobytes()).hexdigest(),
    }


def answer_record(
    decoder: Decoder, sample_id: str, dtype: str, token_ids: Sequence[int], limits: Limits
) -> dict[str, Json]:
    """The output record of one prompt: its greedy steps, or the structured refusal of one that is too long.

    Raises:
        NotFiniteError: a logit is NaN or infinite.
    """
    record: dict[str, Json] = {"sample_id": sample_id, "dtype": dtype}
    length = len(token_ids)
    if length > limits.context:
        return {**record, "refused": {"code": "context_length_exceeded", "limit": limits.context, "length": length}}
    return {**record, "steps": [step_record(logits) for logits in generate(decoder, token_ids, limits)]}
