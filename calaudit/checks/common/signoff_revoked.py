"""No revoked key signed.

Why: A stolen key signs as well as ever; only the registry knows.
Fix: Have the owner sign again with a key that counts.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-revoked", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_revoked(view: View) -> Iterator[Result]:
    """Fail for a signature by a revoked key."""
    yield from of_slots(view)
