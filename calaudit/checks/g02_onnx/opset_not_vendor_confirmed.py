"""The vendor's signed matrix confirms the opset and every operator of the model.

Why: The newest opset is not the one the compiler reads; what the vendor did not confirm fails in the compiler.
Fix: Export with an opset of vendor/op-matrix.yaml, or get a matrix from the vendor that confirms this one. Where they
agree the rule stays open: this version of calaudit verifies no signatures.

A matrix that contradicts the model fails, signed or not. One that agrees confirms nothing until its signature verifies.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx_graph import OnnxGraph
from calaudit.facts.onnx_proto import MODEL
from calaudit.facts.onnx_weights import OnnxWeights
from calaudit.facts.op_matrix import PATH, OpMatrix
from calaudit.model import Location, Result


@check("opset-not-vendor-confirmed", gate="G2", kinds=("fail", "open"), trust=True, unwaivable=True, back_to="vendor")
def opset_not_vendor_confirmed(view: View) -> Iterator[Result]:
    """Compare opset, IR version, external data and operators with the matrix."""
    graph, matrix = view.fact(OnnxGraph), view.fact(OpMatrix)
    contradicted = False
    for result in _contradictions(view, graph, matrix):
        contradicted = True
        yield result
    if not contradicted:
        yield view.open(
            "The matrix agrees with the model, but its signature needs a trust root; none is pinned.",
            at=PATH,
        )


def _contradictions(view: View, graph: OnnxGraph, matrix: OpMatrix) -> Iterator[Result]:
    if graph.opset not in matrix.opsets:
        yield view.fail(
            "The vendor does not confirm the model's opset.",
            at=Location(path=PATH, pointer="/onnx/opsets"),
            expected=graph.opset,
            actual=list(matrix.opsets),
        )
    if graph.ir_version not in matrix.ir_versions:
        yield view.fail(
            "The vendor does not confirm the model's IR version.",
            at=Location(path=PATH, pointer="/onnx/ir_versions"),
            expected=graph.ir_version,
            actual=list(matrix.ir_versions),
        )
    if view.fact(OnnxWeights).external_tensors and matrix.external_data is not True:
        yield view.fail(
            "The model has external data, which the vendor does not read.",
            at=Location(path=PATH, pointer="/onnx/external_data"),
        )
    versions = dict(graph.inventory.opsets)
    for operator in view.each(graph.inventory.operators):
        title = f"{operator.domain or 'ai.onnx'}.{operator.op_type}"
        rows = matrix.find(operator.domain, operator.op_type)
        if not rows:
            yield view.fail(f"The vendor's matrix does not have {title}, which the model uses.", at=PATH)
            continue
        version = versions.get(operator.domain)
        confirmed = [row for row in rows if version in row.opsets]
        if not confirmed:
            yield view.fail(
                f"The vendor confirms {title}, but not for the opset of the model ({MODEL}).",
                at=rows[0].at,
                expected=version,
                actual=sorted({v for row in rows for v in row.opsets}),
            )
        for row in confirmed:
            if row.lowering == "unsupported":
                yield view.fail(f"The vendor says that {title} is unsupported.", at=row.at)
