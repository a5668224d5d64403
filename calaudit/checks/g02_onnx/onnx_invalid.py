"""The model is a valid ONNX model.

Why: A graph that is not well-formed means different things to different tools, or crashes the compiler.
Fix: Repair the exporter so that the graph passes the checker, then export again.

Own checks come first: the protobuf parses, values are defined once and before use, opsets are imported once, inline
tensors have the bytes their shapes need, external entries have one reading. Only then ``onnx.checker`` runs with
``full_check``, in this process, on a copy without any external tensor (:mod:`calaudit.facts.onnx.neutral`): given the
model itself, the native checker would look for external data relative to the current directory and read what stands
there. The ONNX report, which ``calaudit onnx compare`` writes, must say that the same check succeeded on the files as
they are.
"""

from collections.abc import Iterator
from contextlib import suppress

from calaudit.checks import View, check
from calaudit.errors import Malformed, MissingFact
from calaudit.facts.onnx.graph import OnnxGraph, canonical_domain
from calaudit.facts.onnx.proto import MODEL, MODEL_BYTES_MAX, parse_model, text
from calaudit.facts.onnx.results import REPORT, OnnxReport
from calaudit.facts.onnx.signature import OnnxSignature
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.model import Location, Result


@check("onnx-invalid", gate="G2", unwaivable=True)
def onnx_invalid(view: View) -> Iterator[Result]:
    """Check the graph ourselves, then with the checker, then compare with the recorded check."""
    view.saw(len(view.evidence.matching(MODEL)))
    problem = _unreadable(view)
    if problem is not None:
        yield view.fail(problem, at=MODEL)
        return
    structure = view.fact(OnnxStructure)
    for message in structure.problems:
        yield view.fail(message, at=MODEL)
    weights = view.fact(OnnxWeights)
    faults = [*weights.inline_faults, *weights.external.of("onnx-invalid")]
    for fault in faults:
        yield view.fail(fault.message, at=MODEL)
    if structure.sound and not faults:
        try:
            error = view.fact(OnnxSignature).checker_error
        except MissingFact as missing:
            yield view.open(missing.message, at=missing.at)
        else:
            if error is not None:
                yield view.fail(f"The ONNX checker refuses the graph: {error}", at=MODEL)
            yield from _unchecked(view)
    yield from _recorded(view)


def _unchecked(view: View) -> Iterator[Result]:
    """Operators that the checker lets through unseen: it knows neither their inputs nor what they compute."""
    from onnx import defs  # noqa: PLC0415 - heavy

    graph = view.fact(OnnxGraph)
    local = {(canonical_domain(f.domain), text(f.name)) for f in graph.model.functions}
    for operator in graph.inventory.operators:
        if (operator.domain, operator.op_type) not in local and not defs.has(operator.op_type, operator.domain):
            yield view.open(
                f"The checker knows no {operator.op_type} of the domain {operator.domain!r}, so it did not check its "
                f"{operator.count} node(s). Export with standard operators.",
                at=MODEL,
            )


def _unreadable(view: View) -> str | None:
    """Why the bytes are no model; None where they are one."""
    with suppress(MissingFact):  # why it is missing is said below, in the words of this rule
        view.fact(OnnxGraph)
        return None
    data = view.evidence.read(MODEL, limit=MODEL_BYTES_MAX)
    try:
        parse_model(data)
    except Malformed as error:
        return error.message
    return None


def _recorded(view: View) -> Iterator[Result]:
    report = view.fact(OnnxReport)
    for member, value in (("ok", report.checker_ok), ("full_check", report.checker_full)):
        if not value:
            at = Location(path=REPORT, pointer=f"/checker/{member}")
            yield view.fail(
                "The recorded run of the ONNX checker was no full success.", at=at, expected=True, actual=value
            )
