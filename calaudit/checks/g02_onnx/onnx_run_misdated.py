"""The ONNX run began after the reference ended, and ended after it began.

Why: A comparison is made with a reference that is there. A report that is older than the reference it compares with is
of another reference, or was written by hand.
Fix: Run the comparison again, after the reference. Where SOURCE_DATE_EPOCH sets the times, set it alike for both steps,
and let the comparison's clock go on where the reference's ended.
"""

from collections.abc import Iterator
from datetime import datetime

from calaudit.checks import View, check
from calaudit.facts.onnx.results import REPORT, OnnxReport
from calaudit.facts.reference.runs import REPORT as REFERENCE
from calaudit.facts.reference.runs import ReportFact
from calaudit.model import Location, Result


@check("onnx-run-misdated", gate="G2", unwaivable=True)
def onnx_run_misdated(view: View) -> Iterator[Result]:
    """Compare the times that the reports say; whether the runs were then is what attestations tell."""
    report, reference = view.fact(OnnxReport), view.fact(ReportFact)
    view.saw()
    if datetime.fromisoformat(report.finished) < datetime.fromisoformat(report.started):
        yield view.fail(
            "The run finished before it started.",
            at=Location(path=REPORT, pointer="/invocation/finished"),
            expected=f"from {report.started}",
            actual=report.finished,
        )
    if datetime.fromisoformat(report.started) < datetime.fromisoformat(reference.finished):
        yield view.fail(
            f"The run started before the reference ended that it compares with ({REFERENCE}, /invocation/finished).",
            at=Location(path=REPORT, pointer="/invocation/started"),
            expected=f"from {reference.finished}",
            actual=report.started,
        )
