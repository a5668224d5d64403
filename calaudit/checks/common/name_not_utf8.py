"""Names are UTF-8.

Why: A name that is not text cannot stand in a manifest, so the file cannot be vouched for.
Fix: Rename the file to plain UTF-8.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("name-not-utf8", gate="*", kinds=("pass", "fail", "notApplicable"))
def name_not_utf8(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
