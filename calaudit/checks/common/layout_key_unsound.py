"""A key of the layout has one id, which is its digest.

Why: One key under two ids would be two functionaries to a threshold.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-key-unsound", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_key_unsound(view: View) -> Iterator[Result]:
    """Fail for a key id that is not the digest of its key, and for one key under two ids."""
    yield from of_layout(view)
