"""The prompt corpus as records, without the expected answers: :mod:`examples.toolchain.reference` adds those.

A label is a claim, so every record is looked at: it must show what its category says, and its text must tokenize to its
token ids.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tokenizers import Tokenizer

from calaudit.model import Json
from examples.toolchain.corpus import (
    BOUNDARY_LENGTHS,
    NEAR_MAX_LENGTHS,
    OVER_LENGTHS,
    TEXTS,
    listing,
    text_of_length,
)

__all__ = ["prompt_records", "sample_of_length"]


@dataclass(frozen=True, slots=True)
class _Sample:
    text: str
    ids: list[int]
    context: int


def prompt_records(tokenizer: Tokenizer, context: int) -> Iterator[dict[str, Json]]:
    """Every prompt of the corpus; ``expected_token_ids`` is empty, and an over-length prompt carries its refusal.

    Raises:
        ValueError: a prompt does not show what its category says.
    """
    for sample_id, category, text in _samples(tokenizer):
        ids = tokenizer.encode(text).ids
        if not _SHOWS[category](_Sample(text, ids, context)):
            raise ValueError(f"corpus: {sample_id} does not show {category}: {len(ids)} tokens, {text[:60]!r}")
        yield _record(sample_id, category, text, ids, context)


def sample_of_length(length: int) -> str:
    """The id of the prompt that has exactly this many tokens, one of the boundary lengths."""
    return f"boundary-{length:04d}"


def _samples(tokenizer: Tokenizer) -> Iterator[tuple[str, str, str]]:
    for category, texts in TEXTS.items():
        for number, text in enumerate(texts):
            yield f"{category}-{number:02d}", category, text
    long = listing(max(OVER_LENGTHS) // 60)
    for length in BOUNDARY_LENGTHS:
        category = {1: "shortest", max(BOUNDARY_LENGTHS): "near-max-context"}.get(length, "code")
        yield sample_of_length(length), category, text_of_length(tokenizer, long, length)
    for length in NEAR_MAX_LENGTHS:
        yield f"near-max-context-{length}", "near-max-context", text_of_length(tokenizer, long[length % 50 :], length)
    for length in OVER_LENGTHS:
        yield f"over-length-{length}", "over-length", text_of_length(tokenizer, long, length)


def _record(sample_id: str, category: str, text: str, ids: list[int], context: int) -> dict[str, Json]:
    record: dict[str, Json] = {
        "sample_id": sample_id,
        "category": category,
        "text": text,
        "token_ids": list(ids),
        "attention_mask": [1] * len(ids),
        "position_ids": list(range(len(ids))),
        "expected_token_ids": [],
    }
    if len(ids) > context:
        record["expected_refusal"] = {"code": "context_length_exceeded", "limit": context}
    return record


def _repeats(text: str) -> bool:
    return any(len(text) >= 8 * size and text.startswith(text[:size] * 8) for size in range(1, 17))


def _foreign_letters(text: str) -> int:
    return sum(ord(c) > 127 and unicodedata.category(c)[0] in "LM" for c in text)


def _digit_share(text: str) -> float:
    return sum(c.isdigit() for c in text) / max(1, len(text.replace(" ", "")))


_SPECIAL_IDS = frozenset(range(5))

_SHOWS: Mapping[str, Callable[[_Sample], bool]] = MappingProxyType(
    {
        "shortest": lambda s: len(s.ids) <= 2,
        "special-tokens": lambda s: not _SPECIAL_IDS.isdisjoint(s.ids[1:]),
        "multilingual": lambda s: _foreign_letters(s.text) >= 4,
        "code": lambda s: len(s.ids) >= 16 and sum(c in "()[]{}=:;_." for c in s.text) >= 3,
        "numbers": lambda s: _digit_share(s.text) >= 0.5,
        "repetition": lambda s: _repeats(s.text),
        "near-max-context": lambda s: 0.95 * s.context <= len(s.ids) <= s.context,
        "over-length": lambda s: len(s.ids) > s.context,
    }
)
