"""The link and the provenance of a step say the same.

Why: Two stories of one run: whoever reads the one does not see what the other says.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-statement-disagree", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_statement_disagree(view: View) -> Iterator[Result]:
    """Fail when a link has another command, materials or products than provenance of its step."""
    yield from of_links(view)
