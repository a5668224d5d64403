"""No waiver has run out.

Why: A waiver buys time; when it is over, what it covered decides again.
Fix: Repair what it waived and remove it, or have it signed anew.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check(
    "waiver-expired", gate="port", level="warning", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True
)
def waiver_expired(view: View) -> Iterator[Result]:
    """Warn for each waiver that is over: what it covered counts again."""
    yield from of_files(view, "waivers/")
