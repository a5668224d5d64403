"""A candidate and a release have a layout that chains their steps.

Why: What is released follows, step by step, from what was approved; without a layout nobody says what the steps are.
Fix: Compile the layout and have the release owners sign it (`calaudit layout`); run the steps (`calaudit run --all`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY
from calaudit.facts.port import PATH, PortFact
from calaudit.model import Result
from calaudit.trust.steps import LAYOUT


@check("layout-missing-at-release", gate="port", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def layout_missing_at_release(view: View) -> Iterator[Result]:
    """Open, at stages candidate and release, where port.yaml declares no steps, or no layout chains them."""
    if view.signed.trust.registry is None:
        yield view.not_applicable(f"{NOBODY}.")
        return
    if view.port.stage == "development":
        yield view.not_applicable("It counts at the stages candidate and release.")
        return
    view.saw()
    if not view.fact(PortFact).steps:
        yield view.open("port.yaml declares no steps, so that nobody says how the port was made.", at=PATH)
    elif LAYOUT not in view.evidence.entries:
        yield view.open(f"No layout ({LAYOUT}) chains the steps.", at=PATH)
