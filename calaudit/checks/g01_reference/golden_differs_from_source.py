"""The golden tensors begin and end as the source's weights say.

Why: The port is compared with the golden tensors, so tensors that say nothing (zeros, copies, noise) on both sides
agree. What embedding, final norm and logits must be follows from the source's own weights, whoever ran the model.
Fix: Dump the embedding's output, each layer's output and the final norm's output from the run that made the logits,
in FP32. The last layer's output is the one before the final norm; the last of transformers' hidden_states is the one
behind it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.tensors.ends import End, GoldenEnds
from calaudit.model import Result


@check("golden-differs-from-source", gate="G1", kinds=("pass", "fail", "open", "notApplicable"))
def golden_differs_from_source(view: View) -> Iterator[Result]:
    """Compare with what the weights of the source make of tokens, last layer and norm."""
    from calaudit.numerics import usable_tolerance  # noqa: PLC0415 - heavy

    golden = view.fact(GoldenEnds)
    if golden.unknown is not None:
        yield view.not_applicable(golden.unknown)
        return
    atol, rtol = view.number("fp32_atol"), view.number("fp32_rtol")
    if not usable_tolerance(atol, rtol):
        yield view.open("The tolerances of the contract are not finite and positive, so nothing can be compared.")
        return
    for end in view.each(golden.ends):
        yield from _judge(view, end, atol, rtol)


def _judge(view: View, end: End, atol: float, rtol: float) -> Iterator[Result]:
    result = end.compare(atol, rtol)
    if result.violations:
        yield view.fail(
            f"{end.entry.key} is not what follows from {end.made_of}; dump it again.",
            at=end.entry.at,
            expected=f"|difference| ≤ {atol:g} + {rtol:g} * |computed|",
            actual=f"{result.violations} of {result.count} outside, largest difference {result.max_abs:.3g}",
        )
