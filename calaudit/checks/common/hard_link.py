"""No file has a second name.

Why: Whoever holds the other name can change the file after it was signed.
Fix: Replace the file by a copy of its own (cp --reflink=auto old new && mv new old).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("hard-link", gate="*", kinds=("pass", "fail", "notApplicable"))
def hard_link(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
