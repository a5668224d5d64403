"""Every tensor of the ONNX run is within tolerance of the reference's.

Why: Equal tokens on a hundred prompts hide errors that flip the hundred and first; tensors show them where they arise.
Fix: Find the first boundary (in graph order) that differs, and correct the export of the layer before it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._compare import judge_pair, tolerance
from calaudit.facts.tensors.pairs import TensorPairs
from calaudit.model import Result


@check("tensor-out-of-tolerance", gate="G2", unwaivable=True)
def tensor_out_of_tolerance(view: View) -> Iterator[Result]:
    """Compare every key that both sides have; ``golden-coverage`` reports the others."""
    limits = tolerance(view)
    if limits is None:
        yield view.open("The tolerances of the contract are not finite and positive, so nothing can be compared.")
        return
    for pair in view.each(view.fact(TensorPairs).pairs):
        yield from judge_pair(view, pair, limits, "The tensor differs from the reference")
