"""Every operator's domain has an opset import.

Why: Without a version a tool picks one, and two tools pick two: the same node computes different things.
Fix: Export again with an opset import for each domain that the graph uses.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.model import Result


@check("op-domain-undeclared", gate="G2")
def op_domain_undeclared(view: View) -> Iterator[Result]:
    """Compare the domains of nodes, subgraphs and functions with the imports in force there."""
    view.saw(view.fact(OnnxGraph).nodes)
    for domain, where, count in view.fact(OnnxStructure).undeclared:
        yield view.fail(
            f"{count} node(s) of {where} use the domain {domain or 'ai.onnx'!r}, which has no opset import.", at=MODEL
        )
