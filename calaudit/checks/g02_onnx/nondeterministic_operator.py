"""No operator draws at random.

Why: A graph that draws gives another answer at every run, so one comparison with the reference says nothing of the
next. Dropout that was left in training mode is the usual case.
Fix: Put the model into evaluation mode, export again, and leave sampling to the server.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import MODEL, scopes, text
from calaudit.model import Result

_RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
_TRAINING_MODE = 2
"""Which input of Dropout switches it on."""


@check("nondeterministic-operator", gate="G2")
def nondeterministic_operator(view: View) -> Iterator[Result]:
    """Look at every node, those of subgraphs and functions included."""
    for scope in scopes(view.fact(OnnxGraph).model):
        for node in view.each(scope.nodes):
            kind = text(node.op_type)
            if kind in _RANDOM:
                yield view.fail(f"{kind} {text(node.name)!r} of {scope.where} draws at random.", at=MODEL)
            elif kind == "Dropout" and any(node.input[_TRAINING_MODE:]):
                yield view.fail(
                    f"Dropout {text(node.name)!r} of {scope.where} can be switched to training.",
                    at=MODEL,
                    expected="no third input",
                    actual=text(node.input[_TRAINING_MODE]),
                )
