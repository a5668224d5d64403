"""The op inventory is that of the model.

Why: The compiler team reads the inventory, not the graph: an operator missing there is found in the compiler, months
later.
Fix: Run `calaudit onnx ops 02-onnx/model.onnx -o 02-onnx/op-inventory.json` again.
"""

from collections.abc import Iterator
from typing import Any, cast

from calaudit.checks import View, check
from calaudit.facts.onnx.graph import OnnxGraph, canonical_domain
from calaudit.facts.onnx.results import INVENTORY
from calaudit.model import Location, Result


@check("op-inventory-mismatch", gate="G2")
def op_inventory_mismatch(view: View) -> Iterator[Result]:
    """Count again and compare number by number."""
    document = cast("dict[str, Any]", view.evidence.document(INVENTORY))
    graph = view.fact(OnnxGraph)
    found = graph.inventory
    for member, expected in view.each(
        [("ir_version", found.ir_version), ("nodes", found.nodes), ("functions", found.functions)]
    ):
        if document[member] != expected:
            yield view.fail(
                f"The model has another {member}.", at=_at(member), expected=expected, actual=document[member]
            )
    imports = sorted((canonical_domain(o["domain"]), o["version"]) for o in document["opset_import"])
    if imports != sorted(found.opsets):
        yield view.fail(
            "The model imports other opsets.", at=_at("opset_import"), expected=sorted(found.opsets), actual=imports
        )
    listed: dict[tuple[str, str], tuple[int, int]] = {}
    for index, op in enumerate(document["ops"]):
        key = (canonical_domain(op["domain"]), op["op_type"])
        if key in listed:
            yield view.fail(f"The operator {key[1]} is listed twice.", at=_at(f"ops/{index}"))
        listed.setdefault(key, (op["count"], index))
    for operator in view.each(found.operators):
        count, index = listed.pop((operator.domain, operator.op_type), (0, -1))
        if count != operator.count:
            yield view.fail(
                f"The model uses {operator.domain or 'ai.onnx'}.{operator.op_type} another number of times.",
                at=_at("ops" if index < 0 else f"ops/{index}"),
                expected=operator.count,
                actual=count,
            )
    for (domain, op_type), (_, index) in listed.items():
        yield view.fail(f"The model does not use {domain or 'ai.onnx'}.{op_type}.", at=_at(f"ops/{index}"))


def _at(pointer: str) -> Location:
    return Location(path=INVENTORY, pointer=f"/{pointer}")
