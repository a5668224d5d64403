"""Only those who may sign a waiver signed it.

Why: A signature by anybody but the gate's roles and the release role means nothing, and wants to look like something.
Fix: Have them sign the waiver (`calaudit waive`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("waiver-wrong-role", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def waiver_wrong_role(view: View) -> Iterator[Result]:
    """Fail for a signature by a key that may not sign it."""
    yield from of_files(view, "waivers/")
