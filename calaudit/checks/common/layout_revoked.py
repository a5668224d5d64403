"""No revoked key signed the layout.

Why: A stolen key signs as well as ever; only the registry knows.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-revoked", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_revoked(view: View) -> Iterator[Result]:
    """Fail for a signature by a revoked key."""
    yield from of_layout(view)
