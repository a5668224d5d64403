"""Nothing in the model contradicts the vendor's matrix.

Why: The newest opset is not the one the compiler reads; what the vendor does not support fails in the compiler.
Fix: Export with an opset and operators of vendor/op-matrix.yaml, or get a matrix from the vendor that has them.

Whether the matrix is the vendor's word is another question: ``opset-not-vendor-confirmed`` and ``vendor-unsigned``.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.facts.vendor.op_matrix import PATH, OpMatrix
from calaudit.model import Location, Result


@check("opset-contradicts-vendor", gate="G2", unwaivable=True, back_to="vendor")
def opset_contradicts_vendor(view: View) -> Iterator[Result]:
    """Compare opset, IR version, external data and operators with the matrix."""
    graph, matrix = view.fact(OnnxGraph), view.fact(OpMatrix)
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
