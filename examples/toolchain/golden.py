"""Tensor goldens: what the reference computes at the boundaries of the model, for a chosen few prompts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from calaudit.harness.feeds import feeds
from calaudit.harness.tensors import TensorFolder, TensorKey
from examples.toolchain.checkpoint import Array, boundaries
from examples.toolchain.corpus import BOUNDARY_LENGTHS
from examples.toolchain.llama import Llama
from examples.toolchain.prompts import sample_of_length

__all__ = ["GOLDEN_SAMPLES", "write_golden"]

GOLDEN_SAMPLES = ("boundary-0016", "multilingual-11", "special-tokens-01")
"""Prompts with a tensor at every boundary, in prefill and in the decode step after it."""


def write_golden(model: Llama, prompts: Sequence[dict[str, Any]], folder: Path) -> None:
    """Write every golden tensor and their index."""
    by_id = {p["sample_id"]: p for p in prompts}
    names = boundaries(model.config)
    out = TensorFolder(root=folder, boundaries=names)
    calls = {(sample, *call): names for sample in GOLDEN_SAMPLES for call in (("prefill", 0), ("decode", 1))}
    for length in BOUNDARY_LENGTHS:
        for profile in ("prefill", "decode"):
            calls.setdefault((sample_of_length(length), profile, 0), ["logits"])
    for (sample, profile, step), wanted in calls.items():
        prompt = by_id[sample]
        fed = feeds(prompt["token_ids"], prompt["expected_token_ids"], profile, step)
        for name, values in _trace(model, fed):
            if name in wanted:
                out.add(TensorKey(name=name, sample_id=sample, profile=profile, step=step), values)
    out.close()


def _trace(model: Llama, calls: Sequence[Sequence[int]]) -> Iterator[tuple[str, Array]]:
    """The tensors of the last call."""
    *before, last = calls
    sequence = model.begin()
    for token_ids in before:
        sequence.feed(token_ids)
    return sequence.trace(last)
