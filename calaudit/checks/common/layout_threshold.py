"""As many different owners signed the layout as a release needs.

Why: One person alone says what a release must prove. in-toto counts keys, and demands each that it is given.
Fix: Have another owner of release sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-threshold", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_threshold(view: View) -> Iterator[Result]:
    """Fail when too few different owners of release signed."""
    yield from of_layout(view)
