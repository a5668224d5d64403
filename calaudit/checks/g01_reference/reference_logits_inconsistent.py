"""Each step's token, margin and logits agree with each other, and each input has logits of its own.

Why: Margins and logits are what tolerances are later measured by. A step whose token is not its highest logit was not
chosen greedily, or not recorded by the program that chose it; logits that stand behind two inputs were computed from
one of them at most.
Fix: Write outputs.jsonl from the logits themselves: the token is the argmax (of equal logits the lowest id), the list
is descending, the margin is the first logit minus the second, every logit is an exact float32.
"""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import gt

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import few, in_parts
from calaudit.facts.reference.prompts import Prompt, PromptsFact
from calaudit.facts.reference.runs import Output, OutputsFact, Step
from calaudit.facts.source.limits import LimitsFact
from calaudit.model import Result


@check("reference-logits-inconsistent", gate="G1")
def reference_logits_inconsistent(view: View) -> Iterator[Result]:
    """Judge every step of every output by itself."""
    yield from in_parts(view, _steps, _vocabulary, _inputs)


def _steps(view: View) -> Iterator[Result]:
    wanted = int(view.number("top_logits_min"))
    for output in view.fact(OutputsFact).outputs:
        for number, step in enumerate(view.each(output.steps)):
            fault = _fault(step, wanted)
            if fault is not None:
                message, expected, actual = fault
                yield view.fail(
                    f"Step {number} of {output.sample_id} ({output.dtype}): {message}",
                    at=output.at,
                    expected=expected,
                    actual=actual,
                )


def _fault(step: Step, wanted: int) -> tuple[str, object, object] | None:
    tokens, logits = zip(*step.top, strict=True) if step.top else ((), ())
    if not all(map(math.isfinite, (*logits, step.margin))):
        return "a logit or the margin is not finite.", "finite numbers", list(logits)
    if len(logits) < wanted:
        return "too few logits are kept.", f"at least {wanted}", len(logits)
    if len(set(tokens)) < len(tokens):
        return "a token stands in the list twice.", "different tokens", list(tokens)
    if not all(map(gt, logits, logits[1:])) and not _descends(step.top):
        return "the list is not descending (of equal logits the lowest id first).", "descending logits", list(step.top)
    if step.token != tokens[0]:
        return "the token is not that of the highest logit.", tokens[0], step.token
    if step.margin != logits[0] - logits[1]:
        return "the margin is not the first logit minus the second.", repr(logits[0] - logits[1]), repr(step.margin)
    if not _are_float32(logits):
        inexact = next(v for v in logits if not _are_float32([v]))
        return "a logit is no float32 value.", "exact float32 values", repr(inexact)
    return None


def _descends(top: Sequence[tuple[int, float]]) -> bool:
    return all(a > b or (a == b and i <= j) for (i, a), (j, b) in pairwise(top))


def _are_float32(values: Sequence[float]) -> bool:
    layout = f"<{len(values)}f"
    try:
        return struct.unpack(layout, struct.pack(layout, *values)) == tuple(values)
    except OverflowError:
        return False


def _vocabulary(view: View) -> Iterator[Result]:
    vocab = view.fact(LimitsFact).vocab
    for output in view.fact(OutputsFact).outputs:
        outside = next((token for step in output.steps for token, _ in step.top if token >= vocab), None)
        if outside is not None:
            yield view.fail(
                f"A token of {output.sample_id} ({output.dtype}) is outside the vocabulary.",
                at=output.at,
                expected=f"below {vocab}",
                actual=outside,
            )


def _inputs(view: View) -> Iterator[Result]:
    prompts = view.fact(PromptsFact).by_id
    first: dict[tuple[str, str], tuple[Output, int]] = {}
    copied: dict[tuple[str, str], Output] = {}
    for output in view.fact(OutputsFact).outputs:
        if output.sample_id not in prompts:
            continue  # outputs-incomplete says so
        for number, step in enumerate(output.steps):
            other, place = first.setdefault((output.dtype, step.logits_sha256), (output, number))
            if other.sample_id != output.sample_id or place != number:
                one, two = _input(prompts, output, number), _input(prompts, other, place)
                # Attention over one token again and again is that token's: such inputs have one answer.
                if one != two and not set(one) == set(two) == set(one[:1]):
                    copied.setdefault((output.sample_id, other.sample_id), output)
    if copied:
        pairs = [f"{one} like {other}" for one, other in copied]
        yield view.fail(
            f"{len(copied)} pair(s) of outputs have the very same logits after different tokens: {few(pairs)}.",
            at=next(iter(copied.values())).at,
            expected="logits computed from each input",
            actual="one digest of two inputs",
        )


def _input(prompts: Mapping[str, Prompt], output: Output, step: int) -> tuple[int, ...]:
    return prompts[output.sample_id].token_ids + output.tokens[:step]
