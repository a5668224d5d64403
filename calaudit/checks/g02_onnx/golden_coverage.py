"""Every golden tensor has its counterpart from the ONNX run, and the other way round.

Why: A comparison of what happens to be on both sides passes when the tensor that differs is left out.
Fix: Run `calaudit onnx compare` again over all goldens; it writes 02-onnx/tensors with the same keys.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.tensors.index import GOLDEN_INDEX, ONNX_INDEX, GoldenTensors, OnnxTensors
from calaudit.model import Location, Result


@check("golden-coverage", gate="G2", unwaivable=True)
def golden_coverage(view: View) -> Iterator[Result]:
    """Compare the keys of both indexes, then shape and type of each pair."""
    golden, onnx = view.fact(GoldenTensors).index, view.fact(OnnxTensors).index
    for index in (golden, onnx):
        for key in index.duplicates:
            yield view.fail(f"The tensor {key} stands there more than once: two readings of one tensor.", at=index.path)
    if golden.boundaries != onnx.boundaries:
        at = Location(path=ONNX_INDEX, pointer="/boundaries")
        yield view.fail(
            "The boundaries are not the reference's.",
            at=at,
            expected=list(golden.boundaries),
            actual=list(onnx.boundaries),
        )
    ours = onnx.by_key
    for key, wanted in view.each(golden.by_key.items()):
        found = ours.pop(key, None)
        if found is None:
            yield view.fail(f"The golden {key} has no counterpart in {ONNX_INDEX}.", at=wanted.at)
        elif (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
            yield view.fail(
                f"The tensor {key} has another type or shape than its golden.",
                at=found.at,
                expected=f"{wanted.dtype}{list(wanted.shape)}",
                actual=f"{found.dtype}{list(found.shape)}",
            )
    for key, extra in ours.items():
        yield view.fail(f"The tensor {key} has no golden in {GOLDEN_INDEX}.", at=extra.at)
