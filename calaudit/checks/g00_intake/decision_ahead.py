"""The day of the decision has come.

Why: A decision of a day ahead was taken by nobody yet: whoever wrote it down decided for somebody else.
Fix: Record the day on which the decision was taken, once it is taken.

The rule depends on the moment for which the port is judged, so it is none of those whose verdict depends on the port's
bytes alone and is signed.
"""

from collections.abc import Iterator
from datetime import UTC, date, timedelta

from calaudit.checks import View, check
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.model import Result

_ZONES = timedelta(days=1)
"""A decision says the day where it was taken, which begins up to fourteen hours before that of UTC."""


@check("decision-ahead", gate="G0", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True)
def decision_ahead(view: View) -> Iterator[Result]:
    """Compare the day of the decision with the moment for which the port is judged."""
    decision, today = view.fact(SourceManifest).decision, view.signed.trust.now.astimezone(UTC).date()
    if decision is None:
        yield view.not_applicable("No decision is recorded, which decision-missing tells.")
        return
    view.saw()
    if date.fromisoformat(decision.date) - today > _ZONES:
        yield view.fail(
            "The decision is of a day that has not come: nobody has taken it yet.",
            at=at("/decision/date"),
            expected=f"{today} or earlier",
            actual=decision.date,
        )
