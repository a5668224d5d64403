"""Everybody who has to agree to a waiver does.

Why: A waiver needs the roles of the gate and the release role, each to its threshold.
Fix: Have the others sign too (`calaudit waive` adds a signature).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("waiver-threshold", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def waiver_threshold(view: View) -> Iterator[Result]:
    """Fail when a role that has to agree does not reach its threshold."""
    yield from of_files(view, "waivers/")
