"""Nothing is done before the decision to go.

Why: Work on a model nobody accepted creates facts nobody agreed to; without licence and targets nothing is exported.
Fix: Record the decision first, with its true day; after a no-go, remove what the later gates hold.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from calaudit.checks import View, check
from calaudit.errors import MissingFact
from calaudit.facts.reference.runs import ReportFact, SecondReportFact
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.model import Result


@check("export-before-go", gate="G0", back_to="stop, or another model")
def export_before_go(view: View) -> Iterator[Result]:
    """Look for files of later gates while there is no go, and for runs that began before the day of the go."""
    decision = view.fact(SourceManifest).decision
    later = [gate for gate in view.facts.contract.gates.gates if gate != view.gate]
    started = [gate for gate in view.each(later) if view.evidence.has_gate(gate)]
    if started and (decision is None or decision.go != "go"):
        stated = "no decision" if decision is None else decision.go
        yield view.fail(
            f"{', '.join(started)} hold files, and there is {stated}.",
            at=at("" if decision is None else "/decision/go"),
            expected="go, or no files of later gates",
            actual=stated,
        )
    elif decision is not None and decision.go == "go":
        yield from _runs(view, date.fromisoformat(decision.date))


def _runs(view: View, decided: date) -> Iterator[Result]:
    """No run of the reference began before the day of the decision."""
    for started in view.each(_started(view)):
        # The decision's day is that of a place, which begins up to fourteen hours before that of UTC.
        if datetime.combine(decided, time(), UTC) - datetime.fromisoformat(started) > timedelta(hours=14):
            yield view.fail(
                "The reference ran before the port was decided on.",
                at=at("/decision/date"),
                expected=f"the day of the run that started at {started}, or an earlier one",
                actual=f"{decided}",
            )
            return


def _started(view: View) -> Iterator[str]:
    """When the runs began; a report that is not there, G1 asks for."""
    with suppress(MissingFact):
        yield view.fact(ReportFact).started
    with suppress(MissingFact):
        yield view.fact(SecondReportFact).started
