"""A functionary of the step's role signed each link.

Why: An owner's key signs no runs, and another role's functionary did not run this step.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-wrong-functionary", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_wrong_functionary(view: View) -> Iterator[Result]:
    """Fail for a link signed by anybody else, by several, or by another key than its name says."""
    yield from of_links(view)
