"""A link can be read in one way, by everybody.

Why: What one reader takes for a product and another passes over was made by nobody.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-malformed", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_malformed(view: View) -> Iterator[Result]:
    """Fail for a link that does not follow its schema, or that in-toto itself does not take."""
    yield from of_links(view)
