"""The export configuration describes this graph.

Why: The configuration is what the export is repeated from: one that says something else repeats another export.
Fix: Export again from 02-onnx/export-config.yaml, or correct the configuration and then export.
"""

from collections.abc import Iterator
from itertools import pairwise

from calaudit.checks import View, check
from calaudit.facts.onnx.export import CONFIG, OnnxExport
from calaudit.facts.onnx.flow import Flow
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.facts.tensors.index import GoldenTensors
from calaudit.model import Location, Result
from calaudit.pointers import escape


@check("config-graph-mismatch", gate="G2")
def config_graph_mismatch(view: View) -> Iterator[Result]:
    """Compare opset, external data, folding and boundary names."""
    config, graph = view.fact(OnnxExport), view.fact(OnnxGraph)
    external = view.fact(OnnxWeights).external_tensors > 0
    for member, expected, actual in view.each(
        [("opset", graph.opset, config.opset), ("external_data", external, config.external_data)]
    ):
        if expected != actual:
            yield view.fail(f"The graph has another {member}.", at=_at(member), expected=expected, actual=actual)
    if view.fact(OnnxStructure).sound:
        yield from _values(view, config, graph)


def _values(view: View, config: OnnxExport, graph: OnnxGraph) -> Iterator[Result]:
    flow = graph.flow
    if config.constant_folding is False:
        # Unfolded weights and positions: what is fed must still be read by somebody.
        for name in view.each(sorted(flow.inputs)):
            if name not in flow.readers and name not in graph.outputs:
                yield view.fail(
                    f"Constant folding is off, yet nothing reads the input {name!r}.", at=_at("constant_folding")
                )
    for boundary, value in view.each(config.boundaries.items()):
        if value not in flow.maker:
            yield view.fail(f"The graph makes no value {value!r}.", at=_at(f"boundaries/{escape(boundary)}"))
    yield from _order(view, config, graph, flow)


def _order(view: View, config: OnnxExport, graph: OnnxGraph, flow: Flow) -> Iterator[Result]:
    """Every boundary of the goldens has a value, and each is made from the one before it."""
    named: list[tuple[str, str]] = []
    for name in view.fact(GoldenTensors).index.boundaries:
        value = config.boundaries.get(name, name)
        if name not in config.boundaries and name not in graph.outputs:
            yield view.fail(
                f"No value of the graph is named for the boundary {name!r} of the goldens.", at=_at("boundaries")
            )
        elif value in flow.maker:
            named.append((name, value))
    for (before, one), (after, other) in pairwise(named):
        if one == other or one not in flow.back(other):
            yield view.fail(
                f"The value of the boundary {after!r} is not made from that of {before!r}.", at=_at("boundaries")
            )


def _at(pointer: str) -> Location:
    return Location(path=CONFIG, pointer=f"/{pointer}")
