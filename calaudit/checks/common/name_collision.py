"""No two names differ only in case or Unicode form.

Why: On another file system one of them silently replaces the other.
Fix: Rename one of them; compare names after Unicode NFC and case folding.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("name-collision", gate="*", kinds=("pass", "fail", "notApplicable"))
def name_collision(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
