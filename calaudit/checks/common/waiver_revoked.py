"""No revoked key signed a waiver.

Why: A stolen key signs as well as ever; only the registry knows.
Fix: Have them sign the waiver (`calaudit waive`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("waiver-revoked", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def waiver_revoked(view: View) -> Iterator[Result]:
    """Fail for a signature by a revoked key."""
    yield from of_files(view, "waivers/")
