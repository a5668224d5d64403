"""The layout has steps.

Why: A layout without steps is satisfied by nothing at all, and in-toto lets it pass.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-empty", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_empty(view: View) -> Iterator[Result]:
    """Fail for a layout without steps."""
    yield from of_layout(view)
