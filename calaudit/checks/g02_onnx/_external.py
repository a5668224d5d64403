"""What the rules about external data share."""

from collections.abc import Iterator

from calaudit.checks import View
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.model import Result


def report(view: View) -> Iterator[Result]:
    """The faults against the view's rule; not applicable where the model stores everything inside."""
    weights = view.fact(OnnxWeights)
    view.saw(weights.external_tensors)
    if not weights.external_tensors:
        yield view.not_applicable(f"{MODEL} keeps all its tensors inside.")
    for fault in weights.external.of(view.rule.id):
        yield view.fail(fault.message, at=MODEL, expected=fault.expected, actual=fault.actual)
