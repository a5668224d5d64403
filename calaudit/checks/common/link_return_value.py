"""The command of each step ended well.

Why: A command that failed may have written half of what it should; in-toto does not look.
Fix: Repair what made it fail, and run the step again (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-return-value", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_return_value(view: View) -> Iterator[Result]:
    """Fail for a link whose command did not end with 0, or that does not say how it ended."""
    yield from of_links(view)
