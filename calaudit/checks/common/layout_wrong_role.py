"""Only release owners sign the layout.

Why: Whoever writes the layout says what every step must do; functionaries and other roles run and judge the steps.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-wrong-role", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_wrong_role(view: View) -> Iterator[Result]:
    """Fail for a signature by anybody but an owner of release."""
    yield from of_layout(view)
