"""The quality baseline: predict the next token of held-out text, and score each sample.

A sample is text, its token ids, and the id of the token that really follows. The score is the model's own answer (the
argmax) and the natural logarithm of the probability it gave to the right one.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from calaudit.harness.generation import Decoder, Logits
from calaudit.model import Json

__all__ = ["held_out_samples", "score", "summary"]

SAMPLES = 200
LENGTH = 48


def held_out_samples(tokenizer_json: Path, stream: Sequence[int]) -> Iterator[dict[str, Json]]:
    """Samples spread evenly over a token stream, each with a text that tokenizes to exactly its ids and its answer."""
    tokenizer = Tokenizer.from_file(str(tokenizer_json))
    stride = len(stream) // SAMPLES
    for number in range(SAMPLES):
        found = (
            _sample(tokenizer, stream[at : at + LENGTH + 1]) for at in range(number * stride, (number + 1) * stride)
        )
        text, token_ids, answer = next(s for s in found if s is not None)
        yield {
            "sample_id": f"held-out-{number:03d}",
            "task": "next-token",
            "text": text,
            "token_ids": token_ids,
            "answer": answer,
        }


def _sample(tokenizer: Tokenizer, window: Sequence[int]) -> tuple[str, list[Json], int] | None:
    *prefix, answer = window
    text = tokenizer.decode(prefix, skip_special_tokens=False)
    ids = tokenizer.encode(text).ids
    whole = tokenizer.encode(text + tokenizer.decode([answer], skip_special_tokens=False)).ids
    special = {0, 1, 2, 3, 4}
    if special.intersection(window) or ids[1:] != prefix or whole != [*ids, answer]:
        return None
    return text, list(ids), answer


def score(decoder: Decoder, dtype: str, samples: Iterable[dict[str, Any]]) -> Iterator[dict[str, Json]]:
    """One quality-score record a sample."""
    for sample in samples:
        logits = decoder.begin().feed(sample["token_ids"])
        yield {
            "sample_id": sample["sample_id"],
            "dtype": dtype,
            "answer": int(logits.argmax()),
            "logprob": _log_probability(logits, sample["answer"]),
        }


def _log_probability(logits: Logits, answer: int) -> float:
    wide = logits.astype(np.float64)
    top = float(wide.max())
    return float(wide[answer]) - top - math.log(math.fsum(np.exp(wide - top).tolist()))


def summary(samples: Sequence[dict[str, Any]], scores: Sequence[dict[str, Any]]) -> dict[str, Json]:
    """Accuracy and perplexity of one dtype's scores."""
    answers = {s["sample_id"]: s["answer"] for s in samples}
    right = sum(s["answer"] == answers[s["sample_id"]] for s in scores)
    return {
        "accuracy": right / len(scores),
        "perplexity": math.exp(-math.fsum(s["logprob"] for s in scores) / len(scores)),
    }
