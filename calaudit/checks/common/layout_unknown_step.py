"""Rules of the layout name steps that it has.

Why: A MATCH rule from a step that is not there matches nothing, and what it leaves over goes on to the next rule.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-unknown-step", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_unknown_step(view: View) -> Iterator[Result]:
    """Fail for a MATCH rule from a step that the layout does not have."""
    yield from of_layout(view)
