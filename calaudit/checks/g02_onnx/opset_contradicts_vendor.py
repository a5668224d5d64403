"""Nothing in the model contradicts the vendor's matrix.

Why: The newest opset is not the one the compiler reads; what the vendor does not support fails in the compiler.
Fix: Export with an opset and operators of vendor/op-matrix.yaml, or get a matrix from the vendor that has them.

Whether the matrix is the vendor's word is another question: ``opset-not-vendor-confirmed`` and ``vendor-unsigned``.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.errors import MissingFact
from calaudit.facts.onnx.graph import OnnxGraph, Operator
from calaudit.facts.onnx.operands import Operands
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.signature import OnnxSignature
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.facts.vendor.op_matrix import PATH, OpMatrix, OpSupport
from calaudit.model import Location, Result

_ALIASES = {"float": "float32", "double": "float64", "half": "float16"}
"""What a matrix may call an element type."""


@check("opset-contradicts-vendor", gate="G2", unwaivable=True, back_to="vendor")
def opset_contradicts_vendor(view: View) -> Iterator[Result]:
    """Compare opset, IR version, external data, dynamic shapes, operators and element types with the matrix."""
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
    yield from _shapes_and_types(view, graph, matrix)


def _shapes_and_types(view: View, graph: OnnxGraph, matrix: OpMatrix) -> Iterator[Result]:
    """What only the inferred model says."""
    try:
        signature = view.fact(OnnxSignature)
    except MissingFact as missing:
        yield view.open(f"Shapes and element types cannot be inferred: {missing.message}", at=missing.at)
        return
    free = [v for v in (*signature.inputs, *signature.outputs) if not v.fixed]
    if free and matrix.dynamic_shapes is not True:
        yield view.fail(
            "The model has dynamic shapes, which the vendor does not compile. Export with fixed lengths, or get a "
            "matrix that has them.",
            at=Location(path=PATH, pointer="/onnx/dynamic_shapes"),
            expected=True,
            actual=free[0],
        )
    if signature.operands is None:
        yield view.open(
            "The graph does not pass the checker (onnx-invalid), so its element types cannot be inferred.", at=MODEL
        )
        return
    versions = dict(graph.inventory.opsets)
    for operator in graph.inventory.operators:
        operands = signature.operands.get((operator.domain, operator.op_type))
        found = matrix.find(operator.domain, operator.op_type)
        rows = [r for r in found if versions.get(operator.domain) in r.opsets and r.lowering != "unsupported"]
        if rows:
            yield from _types(view, operator, operands, rows)


def _types(view: View, operator: Operator, operands: Operands | None, rows: list[OpSupport]) -> Iterator[Result]:
    title = f"{operator.domain or 'ai.onnx'}.{operator.op_type}"
    confirmed = {_ALIASES.get(dtype, dtype) for row in rows for dtype in row.dtypes}
    if operands is None or operands.unknown:
        where = operands.unknown[0] if operands is not None else "a function"
        yield view.open(
            f"With which element types {title} works cannot be told at {where} ({MODEL}). Export with standard "
            "operators.",
            at=rows[0].at,
        )
    for dtype, node in sorted(operands.types.items()) if operands is not None else ():
        if dtype not in confirmed:
            yield view.fail(
                f"The vendor confirms {title}, but not for {dtype}, with which {node} works ({MODEL}).",
                at=rows[0].at,
                expected=dtype,
                actual=sorted(confirmed),
            )
