"""Every step's token, margin and highest logits agree with each other.

Why: Margins and logits are what tolerances are later measured by. A step whose token is not its highest logit was not
chosen greedily, or not recorded by the program that chose it.
Fix: Write outputs.jsonl from the logits themselves: the token is the argmax (of equal logits the lowest id), the list
is descending, the margin is the first logit minus the second, every logit is an exact float32.
"""

import math
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import gt

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.runs import OutputsFact, Step
from calaudit.facts.source.limits import LimitsFact
from calaudit.model import Result


@check("reference-logits-inconsistent", gate="G1")
def reference_logits_inconsistent(view: View) -> Iterator[Result]:
    """Judge every step of every output by itself."""
    yield from in_parts(view, _steps, _vocabulary)


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
