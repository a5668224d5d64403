"""A layout chains the steps of the port.

Why: Steps that are attested one by one may each be right, and yet be runs on different files, or leave one out.
Fix: Compile the layout and have the release owners sign it (`calaudit layout`); run the steps (`calaudit run --all`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY
from calaudit.facts.port import PATH, PortFact
from calaudit.model import Result
from calaudit.trust.steps import LAYOUT


@check(
    "layout-missing", gate="port", level="warning", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True
)
def layout_missing(view: View) -> Iterator[Result]:
    """Warn, at stage development, where port.yaml declares steps and release owners signed no layout."""
    steps = view.fact(PortFact).steps
    if not steps or view.signed.trust.registry is None:
        yield view.not_applicable(f"{NOBODY}." if steps else "port.yaml declares no steps.")
        return
    if view.port.stage != "development":
        yield view.not_applicable("It is a warning at stage development; later layout-missing-at-release demands it.")
        return
    view.saw()
    if LAYOUT not in view.evidence.entries:
        yield view.fail(f"No layout ({LAYOUT}) chains the steps, attested or not.", at=PATH)
