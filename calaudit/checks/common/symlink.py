"""No symbolic links.

Why: A link can lead outside the port, and what it leads to can change after it was signed.
Fix: Replace the link by the file or folder it leads to.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("symlink", gate="*", kinds=("pass", "fail", "notApplicable"))
def symlink(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
