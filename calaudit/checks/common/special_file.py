"""No fifos, devices or sockets.

Why: What they deliver differs at every reading, so a digest of them means nothing.
Fix: Delete the special file, or replace it by a regular file.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("special-file", gate="*", kinds=("pass", "fail", "notApplicable"))
def special_file(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
