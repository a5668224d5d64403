"""Initializers that bear the name of a source tensor have exactly its values.

Why: Extents that were swapped, or weights of another checkpoint, are sound by themselves; only the source says which
are right.
Fix: Delete the data file, then export again from the weights of 00-source.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx_origin import OnnxOrigin
from calaudit.facts.onnx_proto import MODEL
from calaudit.model import Result


@check("weights-differ-from-source", gate="G2", kinds=("pass", "fail", "open", "notApplicable"))
def weights_differ_from_source(view: View) -> Iterator[Result]:
    """Compare name by name; a matrix may be stored transposed."""
    origin = view.fact(OnnxOrigin)
    view.saw(origin.compared)
    for name in origin.differing:
        yield view.fail(f"The initializer {name!r} has not the values of the source's tensor of that name.", at=MODEL)
    for name in origin.too_large:
        yield view.open(f"The tensor {name!r} is too large to be compared with the source.", at=MODEL)
    if not origin.available:
        yield view.not_applicable("The source's weights are kept elsewhere.")
    elif not origin.compared and not origin.too_large:
        yield view.not_applicable("No initializer bears the name of a source tensor.")
