"""Positions reach the rotary embedding of every layer, and results move with them.

Why: An exporter that folds the positions of its example input into constants makes a model that is right for one prompt
length only.
Fix: Trace the export wrapper with dynamic positions, or author the graph, then export again.

Proved by the graph: see :mod:`calaudit.facts.onnx.positions`. Proved by the evidence: decode logits at two or more
positions exist on both sides and differ from each other (whether they are right is ``boundary-shape-mismatch``'s
matter).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.positions import OnnxPositions
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.results import MATRIX, ShapeMatrix
from calaudit.facts.tensors.index import ONNX_INDEX, OnnxTensors, TensorKey
from calaudit.model import Result


@check("position-logic-changed", gate="G2", unwaivable=True)
def position_logic_changed(view: View) -> Iterator[Result]:
    """Follow the positions layer by layer, then look at decode results at different positions."""
    for layer in view.each(view.fact(OnnxPositions).layers):
        for broken in layer.broken:
            yield view.fail(f"Layer {layer.layer}: {broken}.", at=MODEL)
        for unknown in layer.unknown:
            yield view.open(
                f"Layer {layer.layer}: {unknown}; extend calaudit or export in a form that it knows.", at=MODEL
            )
    index = view.fact(OnnxTensors).index.by_key
    digests = {}
    for case in view.fact(ShapeMatrix).cases:
        entry = index.get(TensorKey(name="logits", sample_id=case.sample_id, profile="decode", step=0))
        if case.profile == "decode" and entry is not None:
            digests[case.length] = entry.sha256
    view.saw(len(digests))
    if len(digests) < 2:
        yield view.open("Decode logits at two positions or more are needed to see that results move.", at=MATRIX)
    elif len(set(digests.values())) == 1:
        yield view.fail(f"The decode logits are the same at {len(digests)} different positions.", at=ONNX_INDEX)
