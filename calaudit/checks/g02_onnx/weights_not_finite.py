"""No stored value is NaN or infinite.

Why: One NaN among the weights spreads through every later layer, and a comparison with NaN on both sides proves
nothing.
Fix: Find the step that made it (conversion to a smaller float type overflows to infinity), then export again.

A tensor of a single value may be infinite: graphs mask attention with minus infinity. NaN is never right.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.values import OnnxValues, nan_attributes
from calaudit.model import Result


@check("weights-not-finite", gate="G2", unwaivable=True)
def weights_not_finite(view: View) -> Iterator[Result]:
    """Look at every float tensor, inline and external, and at float attributes."""
    values = view.fact(OnnxValues)
    view.saw(values.float_tensors)
    for bad in values.nonfinite:
        if bad.values > 1 or bad.nan:
            yield view.fail(
                f"The {bad.title} holds {bad.nan} NaN and {bad.count - bad.nan} infinite value(s).",
                at=bad.path,
                expected="finite values",
                actual=f"{bad.count} of {bad.values} not finite",
            )
    for title in nan_attributes(view.fact(OnnxGraph).model):
        yield view.fail(f"The {title} is NaN.", at=MODEL)
