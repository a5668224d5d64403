"""The model takes and gives a key and a value cache for every layer.

Why: A decoder without its cache inputs forgets the prompt; how the compiler turns them into scatters is the vendor's
contract, not the exporter's to drop.
Fix: Export with past and present keys and values for every layer, or get a signed KV contract from the vendor.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.export import SourceShape
from calaudit.facts.onnx.flow import Op
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.kv import kv_names
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.model import Result

CONTRACT = "vendor/kv-contract.md"


@check("kv-inputs-missing", gate="G2")
def kv_inputs_missing(view: View) -> Iterator[Result]:
    """Look for each layer's pairs, and whether each present value is made from its past and leads to the logits."""
    graph, shape = view.fact(OnnxGraph), view.fact(SourceShape)
    names = list(kv_names(shape.layers, graph.inputs, graph.outputs))
    missing = [
        n
        for _, _, past, present in names
        for n, known in ((past, graph.inputs), (present, graph.outputs))
        if n not in known
    ]
    view.saw(len(names) * 2)
    if missing and view.evidence.matching(CONTRACT):
        yield view.open(
            f"{len(missing)} of {len(names) * 2} cache inputs and outputs are missing; {CONTRACT} may allow that, but "
            "nobody signed it (kv-contract-missing).",
            at=MODEL,
        )
        return
    for name in missing:
        yield view.fail(
            f"The model has no {name!r}; {shape.layers} layers need {2 * shape.layers} cache pairs.", at=MODEL
        )
    if not view.fact(OnnxStructure).sound:
        yield view.open("The graph is not sound (onnx-invalid), so its caches cannot be followed.", at=MODEL)
        return
    flow = graph.flow
    for layer, kind, past, present in names:
        if past in missing or present in missing:
            continue
        made_of = flow.back(present, _is_size)
        for source, what in ((past, repr(past)), ("input_ids", "the new tokens")):
            if source not in made_of:
                yield view.fail(f"The {kind} cache of layer {layer}: {present!r} is made without {what}.", at=MODEL)
        if "logits" in graph.outputs and "logits" not in flow.forward([past], _is_size):
            yield view.fail(f"The {kind} cache of layer {layer}: {past!r} does not reach the logits.", at=MODEL)


def _is_size(op: Op) -> bool:
    """Behind it only the length of a value is left: a mask needs no more, a cache does."""
    return op.kind in ("Shape", "Size")
