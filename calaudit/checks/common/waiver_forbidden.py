"""No waiver reaches what cannot be waived.

Why: Hashes, signatures, licences, hard thresholds and blocks decide whether a port is what it says it is.
Fix: Remove the waiver and repair the port.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("waiver-forbidden", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def waiver_forbidden(view: View) -> Iterator[Result]:
    """Fail for a waiver of a rule that is unwaivable."""
    yield from of_files(view, "waivers/")
