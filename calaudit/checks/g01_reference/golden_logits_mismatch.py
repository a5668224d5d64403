"""The golden logits are those of the outputs.

Why: outputs.jsonl keeps a digest and the highest logits of every step; the golden tensors keep a few in full. If the
two are not of one computation, one of them is not of this model.
Fix: Dump the golden tensors and write outputs.jsonl with the same code, weights and precision.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from calaudit.checks import View, check
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.reference.runs import FLOAT32, OutputsFact, Step
from calaudit.facts.tensors.golden import GoldenFact, GoldenTensor, Logits
from calaudit.model import Result


@check("golden-logits-mismatch", gate="G1")
def golden_logits_mismatch(view: View) -> Iterator[Result]:
    """Compare digests and values, or within the tolerance where the decode profile computed the first step."""
    outputs = view.fact(OutputsFact).by_key
    for tensor in view.fact(GoldenFact).tensors:
        key = tensor.entry.key
        output = outputs.get((key.sample_id, FLOAT32))
        if tensor.logits is None or output is None:
            continue  # an unreadable tensor and a missing output have rules of their own
        view.saw()
        if key.step >= len(output.steps):
            yield view.fail(
                f"{key} is of a step that the output does not have.", at=tensor.entry.at, actual=len(output.steps)
            )
        elif key.profile == "decode" and key.step == 0:
            yield from _close(view, tensor, tensor.logits, output.steps[0])
            yield from _copied(view, tensor, tensor.logits)
        elif tensor.logits.sha256 != output.steps[key.step].logits_sha256:
            yield view.fail(
                f"{key} is not what outputs.jsonl has the digest of.",
                at=tensor.entry.at,
                expected=output.steps[key.step].logits_sha256,
                actual=tensor.logits.sha256,
            )
        elif (step := output.steps[key.step]).top != tensor.logits.top[: len(step.top)]:
            yield view.fail(
                f"The highest logits of step {key.step} of {key.sample_id} are not those of the golden tensor.",
                at=output.at,
                expected=list(tensor.logits.top[: len(step.top)]),
                actual=list(step.top),
            )


def _close(view: View, tensor: GoldenTensor, logits: Logits, step: Step) -> Iterator[Result]:
    found = dict(logits.top)
    atol, rtol = view.number("fp32_atol"), view.number("fp32_rtol")
    for token, expected in step.top:
        actual = found.get(token)
        if actual is None or not math.isfinite(actual) or abs(actual - expected) > atol + rtol * abs(expected):
            yield view.fail(
                f"{tensor.entry.key} differs from the first step of the output at token {token}.",
                at=tensor.entry.at,
                expected=f"{expected!r} within {atol:g} + {rtol:g} of it",
                actual="not among the highest" if actual is None else repr(actual),
            )
            return


def _copied(view: View, tensor: GoldenTensor, logits: Logits) -> Iterator[Result]:
    """Sums in another order never agree in most values, unless there was nothing to add up: one token, or one kind."""
    key = tensor.entry.key
    other = view.fact(GoldenFact).by_key.get(replace(key, profile="prefill"))
    if other is None or other.logits is None:
        return
    share, most = _share(dict(logits.top), dict(other.logits.top)), view.number("equal_values_max")
    if share <= most:
        return
    prompt = view.fact(PromptsFact).by_id.get(key.sample_id)  # golden-boundary-missing says that there is none
    if prompt is not None and len(set(prompt.token_ids)) > 1:
        yield view.fail(
            f"{key} has the very values of the prefill profile, so nothing was decoded; compute it with the cache.",
            at=tensor.entry.at,
            expected=f"at most {most:.0%} equal values",
            actual=f"{share:.0%}",
        )


def _share(left: Mapping[int, float], right: Mapping[int, float]) -> float:
    both = left.keys() & right.keys()
    return sum(left[token] == right[token] for token in both) / max(len(both), 1)
