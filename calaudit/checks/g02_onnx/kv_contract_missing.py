"""A model without cache inputs has a KV contract signed by the vendor.

Why: Only the vendor can say how its runtime replaces the inputs; an unsigned text binds nobody.
Fix: Export with the cache inputs, or get vendor/kv-contract.md from the vendor. With the contract the rule stays open:
this version of calaudit verifies no signatures.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx.kv_inputs_missing import CONTRACT
from calaudit.facts.onnx.export import SourceShape
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.kv import kv_names
from calaudit.facts.onnx.proto import MODEL
from calaudit.model import Result


@check("kv-contract-missing", gate="G2", kinds=("fail", "open", "notApplicable"), back_to="vendor")
def kv_contract_missing(view: View) -> Iterator[Result]:
    """Not applicable where every cache is an input; a contract that is there stays open until its signature is."""
    graph = view.fact(OnnxGraph)
    names = list(kv_names(view.fact(SourceShape).layers, graph.inputs, graph.outputs))
    absent = [past for _, _, past, present in names if past not in graph.inputs or present not in graph.outputs]
    view.saw(len(names))
    if names and not absent:
        yield view.not_applicable("Every cache is an input of the model.")
    elif view.evidence.matching(CONTRACT):
        yield view.open("Whether the vendor signed the contract needs a trust root; none is pinned.", at=CONTRACT)
    else:
        yield view.fail(
            f"{len(absent)} cache input(s) are missing, the first is {absent[0]!r}, and there is no {CONTRACT}."
            if absent
            else "The architecture has no layers.",
            at=MODEL,
        )
