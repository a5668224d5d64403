"""The layout has not run out.

Why: A layout that is good for ever keeps the functionaries of long ago.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-expired", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_expired(view: View) -> Iterator[Result]:
    """Fail for a layout whose end has passed."""
    yield from of_layout(view)
