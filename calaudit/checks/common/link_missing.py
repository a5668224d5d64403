"""Every step of the layout was run by as many functionaries as it needs.

Why: A step without a link is a step that nobody says was run.
Fix: Run it with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY, told
from calaudit.model import Result
from calaudit.trust.steps import LAYOUT


@check("link-missing", gate="port", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def link_missing(view: View) -> Iterator[Result]:
    """Open for each step of a judged gate that too few links which hold are of."""
    chain = view.signed.chain
    if chain is None or chain.layout is None:
        there = LAYOUT in view.evidence.entries
        nobody = f"{NOBODY}." if view.signed.trust.registry is None else "No layout is known to hold."
        yield view.not_applicable(nobody if there else "There is no layout.")
        return
    view.saw(len(chain.layout.steps))
    yield from told(view, view.signed.faults_of(view.rule.id))
