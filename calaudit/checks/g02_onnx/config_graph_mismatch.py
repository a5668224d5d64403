"""The configurations of model and export describe this graph.

Why: The configuration is what the export is repeated from: one that says something else repeats another export.
Fix: Export again from 02-onnx/export-config.yaml and the model's config.json, or correct them and then export.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

from calaudit.checks import View, check
from calaudit.facts.onnx.epsilons import OnnxEpsilons
from calaudit.facts.onnx.export import CONFIG, OnnxExport
from calaudit.facts.onnx.flow import Flow
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import CONFIG as MODEL_CONFIG
from calaudit.facts.tensors.index import GoldenTensors
from calaudit.model import Location, Result
from calaudit.pointers import escape

_ROUNDING = 1e-4
"""An epsilon is a float32 in the graph, and a decimal number in the config."""


@check("config-graph-mismatch", gate="G2")
def config_graph_mismatch(view: View) -> Iterator[Result]:
    """Compare opset, external data, folding and boundary names, and the epsilon of the norms."""
    config, graph = view.fact(OnnxExport), view.fact(OnnxGraph)
    external = view.fact(OnnxWeights).external_tensors > 0
    for member, expected, actual in view.each(
        [("opset", graph.opset, config.opset), ("external_data", external, config.external_data)]
    ):
        if expected != actual:
            yield view.fail(f"The graph has another {member}.", at=_at(member), expected=expected, actual=actual)
    if view.fact(OnnxStructure).sound:
        yield from _values(view, config, graph)
        yield from _epsilon(view)


def _epsilon(view: View) -> Iterator[Result]:
    """Some norm of the graph has the epsilon of the model's config; inner norms of a few families have their own."""
    stated, found = view.fact(ModelConfig).architecture.norm_epsilon, view.fact(OnnxEpsilons).epsilons
    if stated is None or not found:
        return
    view.saw()
    if not any(math.isclose(stated, epsilon, rel_tol=_ROUNDING) for epsilon in found):
        yield view.fail(
            "No norm of the graph has the epsilon of the model's config.",
            at=MODEL_CONFIG,
            expected=" or ".join(f"{epsilon:.6g}" for epsilon in found[:5]),
            actual=f"{stated:.6g}",
        )


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
