"""What the rules about external data share."""

from collections.abc import Iterator

from calaudit.checks import View
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.model import Result


def report(view: View) -> Iterator[Result]:
    """The offences against the view's rule; not applicable where the model stores everything inside."""
    weights = view.fact(OnnxWeights)
    view.saw(weights.external_tensors)
    if not weights.external_tensors:
        yield view.not_applicable(f"{MODEL} keeps all its tensors inside.")
    for offence in weights.external.of(view.rule.id):
        yield view.fail(offence.message, at=MODEL, expected=offence.expected, actual=offence.actual)
