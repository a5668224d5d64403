"""The model's weights are the source's, every value of them.

Why: Extents that were swapped, or weights of another checkpoint, are sound by themselves; only the source says which
are right.
Fix: Delete the data file, then export again from the weights of 00-source.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.origin import OnnxOrigin
from calaudit.facts.onnx.proto import MODEL
from calaudit.model import Result


@check("weights-differ-from-source", gate="G2", unwaivable=True)
def weights_differ_from_source(view: View) -> Iterator[Result]:
    """Compare by name, then by values, either way; a matrix may be stored transposed."""
    origin = view.fact(OnnxOrigin)
    view.saw(origin.compared)
    for name in origin.differing:
        yield view.fail(f"The initializer {name!r} has not the values of the source's tensor of that name.", at=MODEL)
    for name in origin.too_large:
        yield view.open(f"The tensor {name!r} is too large to be compared with the source.", at=MODEL)
    if not origin.available:
        yield view.open("The source's weights are kept elsewhere, so nothing shows that the model has them.", at=MODEL)
    if origin.absent:
        yield view.open(
            f"{len(origin.absent)} tensor(s) of the source, the first {origin.absent[0]!r}, are in no initializer "
            "whose values the outputs take: fused, folded, quantised or left out. Export in float32, without folding.",
            at=MODEL,
        )
    if origin.foreign:
        yield view.open(
            f"{len(origin.foreign)} stored value(s) that the outputs take, the first {origin.foreign[0]!r}, are no "
            "tensor of the source. Export in float32, without folding, and let the graph compute its masks.",
            at=MODEL,
        )
    if origin.optional:
        yield view.open(
            f"The graph chooses at {len(origin.optional)} node(s), the first {origin.optional[0]}, whether weights of "
            "the source are used; nothing shows that they always are. Export the layers without branches.",
            at=MODEL,
        )
