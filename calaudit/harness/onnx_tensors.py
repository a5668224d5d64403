"""Compare the tensors at the boundaries of a graph with the goldens of the reference, every one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calaudit.errors import Malformed
from calaudit.facts import Facts
from calaudit.facts.onnx.results import ShapeMatrix
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.tensors.index import GoldenTensors, TensorEntry, TensorKey, read_tensor
from calaudit.harness.feeds import feeds
from calaudit.harness.onnx_session import LOGITS, Array, OnnxDecoder
from calaudit.harness.outcome import Outcome, Tolerance
from calaudit.harness.tensors import TensorFolder
from calaudit.numerics import compare

__all__ = ["compare_tensors"]


def compare_tensors(facts: Facts, decoder: OnnxDecoder, tolerance: Tolerance, folder: Path, outcome: Outcome) -> None:
    """Compute every tensor that the reference holds, write it to ``folder`` and note how far off it is.

    Raises:
        MissingFact: the goldens, the prompts or the shape matrix cannot be used.
        Malformed: the graph cannot be driven, or a golden names a prompt or a step that does not exist.
    """
    index = facts.get(GoldenTensors).index
    out = TensorFolder(root=folder, boundaries=index.boundaries)
    judge = _Judge(tolerance, outcome, out)
    for entries in _calls(index.tensors):
        tapped = [e for e in entries if e.key.name == LOGITS or e.key.name in decoder.taps]
        for key in {e.key for e in entries} - {e.key for e in tapped}:
            outcome.differences.append(f"{key}: export-config.yaml maps the boundary to no value of the graph.")
        values = _trace(facts, decoder, tapped)
        for entry in tapped:
            judge.compare(entry.key, values[entry.key.name], read_tensor(facts.evidence, entry).astype(np.float32))
    out.close()
    for case in facts.get(ShapeMatrix).cases:
        key = TensorKey(name=LOGITS, sample_id=case.sample_id, profile=case.profile, step=0)
        if key not in outcome.deviations:
            outcome.differences.append(f"shape-matrix.yaml: case {case.id} was not compared, for want of the {key}.")


def _calls(entries: Sequence[TensorEntry]) -> list[list[TensorEntry]]:
    """The tensors by the call of the model that gives them, in order."""
    calls: dict[tuple[str, str, int], list[TensorEntry]] = {}
    for entry in entries:
        calls.setdefault((entry.key.sample_id, entry.key.profile, entry.key.step), []).append(entry)
    return list(calls.values())


def _trace(facts: Facts, decoder: OnnxDecoder, entries: Sequence[TensorEntry]) -> dict[str, Array]:
    if not entries:
        return {}
    key = entries[0].key
    prompt = facts.get(PromptsFact).by_id.get(key.sample_id)
    if prompt is None:
        raise Malformed(f"01-reference/tensor-golden/index.json names {key.sample_id}, which is not in prompts.jsonl.")
    *before, last = feeds(prompt.token_ids, prompt.expected, key.profile, key.step)
    sequence = decoder.begin()
    for token_ids in before:
        sequence.feed(token_ids)
    return sequence.trace(last, [e.key.name for e in entries])


@dataclass(frozen=True, slots=True)
class _Judge:
    tolerance: Tolerance
    outcome: Outcome
    out: TensorFolder

    def compare(self, key: TensorKey, ours: Array, golden: Array) -> None:
        """Keep one tensor, and note its deviation or why there is none."""
        if ours.dtype != np.float32 or not ours.size or not np.isfinite(ours).all():
            self._differs(key, "the graph gives NaN, infinity, nothing, or another type than float32")
            return
        self.out.add(key, ours)
        if ours.shape != golden.shape:
            self._differs(key, f"the graph gives {list(ours.shape)}, the reference {list(golden.shape)}")
            return
        found = compare(ours, golden, atol=self.tolerance.atol, rtol=self.tolerance.rtol)
        if any(found.nonfinite):
            self._differs(key, "the reference holds NaN or infinity")
            return
        self.outcome.deviations[key] = found.max_abs
        if not found.within:
            allowed = f"{self.tolerance.atol:g} + {self.tolerance.rtol:g} * |reference|"
            worst = f"the worst by {found.max_abs:g}"
            self._differs(key, f"{found.violations} of {found.count} values are off by more than {allowed}, {worst}")

    def _differs(self, key: TensorKey, how: str) -> None:
        self.outcome.differences.append(f"{key}: {how}.")
