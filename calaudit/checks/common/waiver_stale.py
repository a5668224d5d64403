"""A waiver is for the bytes that are there.

Why: A waiver is for one failure that somebody looked at; other bytes fail otherwise.
Fix: Repair the artifact, or have the changed one waived.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("waiver-stale", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def waiver_stale(view: View) -> Iterator[Result]:
    """Fail when the artifact changed or is gone."""
    yield from of_files(view, "waivers/")
