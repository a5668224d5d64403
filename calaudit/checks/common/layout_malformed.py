"""The layout can be read in one way, by everybody.

Why: What one reader takes for a rule and another passes over demands nothing.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-malformed", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_malformed(view: View) -> Iterator[Result]:
    """Fail for a layout that does not follow its schema, or that in-toto itself does not take."""
    yield from of_layout(view)
