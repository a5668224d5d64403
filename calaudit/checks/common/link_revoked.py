"""No revoked key signed a link.

Why: A stolen key signs as well as ever; only the registry knows.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-revoked", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_revoked(view: View) -> Iterator[Result]:
    """Fail for a signature by a revoked key."""
    yield from of_links(view)
