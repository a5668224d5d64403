"""BF16 is as near to FP32 as BF16 can be.

Why: The port will compute in less than FP32, so BF16 shows how much of a difference is rounding. A BF16 reference
that is further away is wrong, and one that is no different at all is a copy.
Fix: Run the BF16 reference with the same weights and code as the FP32 one. Do not compare tokens: where two logits
are nearly equal, rounding decides; logits must be within the tolerance, and a token may differ only where the margin
is too.
"""

from collections.abc import Iterator, Sequence

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import few
from calaudit.facts.reference.bf16 import Bf16Fact, Pair, likeness, top_differences
from calaudit.facts.reference.runs import OUTPUTS, Step
from calaudit.model import Result


@check("bf16-out-of-tolerance", gate="G1")
def bf16_out_of_tolerance(view: View) -> Iterator[Result]:
    """Compare the highest logits of every step that both precisions took from the same input."""
    pairs = view.fact(Bf16Fact).pairs
    for pair in view.each(pairs):
        yield from _judge(view, pair, view.number("bf16_logit_atol"))
    yield from _copies(view, pairs)


def _copies(view: View, pairs: Sequence[Pair]) -> Iterator[Result]:
    """BF16 rounds every logit: one that is FP32's to the last bit is chance, and most of a prompt's are a copy."""
    found = {pair.half.sample_id: likeness([(pair.single, pair.half)]) for pair in pairs}
    most, least = view.number("equal_values_max"), view.number("equal_logits_max")
    copied = [sample_id for sample_id, like in found.items() if max(like.digests, like.values) > most]
    if copied:
        yield view.fail(
            f"{len(copied)} BF16 output(s) have the very logits of the FP32 output: {few(copied)}.",
            at=OUTPUTS,
            expected=f"at most {most:.0%} equal logits in an output",
            actual=f"{max(max(like.digests, like.values) for like in found.values()):.1%}",
        )
        return
    whole = likeness((pair.single, pair.half) for pair in pairs)
    if max(whole.digests, whole.values) > least:
        yield view.fail(
            "Too many BF16 logits are the FP32 logits to the last bit: a copy, in part. Run the BF16 reference again.",
            at=OUTPUTS,
            expected=f"at most {least:.0%} equal logits",
            actual=f"{max(whole.digests, whole.values):.1%}",
        )


def _judge(view: View, pair: Pair, tolerance: float) -> Iterator[Result]:
    where = f"of {pair.half.sample_id}"
    for number, single, half in pair.comparable():
        worst, token = max(top_differences(single, half))
        if not worst <= tolerance:
            yield view.fail(
                f"At step {number} {where} the BF16 logit of token {token} is too far from the FP32 logit.",
                at=pair.half.at,
                expected=f"at most {tolerance:g}",
                actual=f"at least {worst:.6g}",
            )
            return
        if single.token != half.token and not _margin(single, half.token) <= tolerance:
            yield view.fail(
                f"At step {number} {where} BF16 chooses token {half.token} instead of {single.token}, which "
                "leads by more than rounding explains.",
                at=pair.half.at,
                expected=f"an FP32 margin of at most {tolerance:g}",
                actual=f"at least {_margin(single, half.token):.6g}",
            )


def _margin(single: Step, token: int) -> float:
    """How far FP32's token leads the given one, at least."""
    other = single.logits.get(token)
    return single.top[0][1] - (other if other is not None else single.top[-1][1])
