"""Every number of the ONNX report follows from the evidence in the port.

Why: A report is a summary; where it says something else than what it summarises, one of them was not made by the run.
Fix: Run `calaudit onnx compare` again; it writes outputs, tensors and report together.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._claims import claims, records, statistics
from calaudit.facts.onnx.results import REPORT, OnnxReport
from calaudit.model import Location, Result
from calaudit.pointers import resolve


@check("claim-not-reproduced", gate="G2", unwaivable=True)
def claim_not_reproduced(view: View) -> Iterator[Result]:
    """Recompute greedy counts, tensor and boundary differences, the signature, margins, digests and statistics."""
    document = view.fact(OnnxReport).document
    for claim in view.each(claims(view)):
        said = resolve(document, claim.pointer)  # type: ignore[arg-type]
        if not claim.holds(said):
            yield view.fail(
                f"The {claim.title} is not what the evidence gives.",
                at=Location(path=REPORT, pointer=claim.pointer),
                expected=claim.expected,
                actual=said,
            )
    yield from records(view)
    yield from statistics(view)
