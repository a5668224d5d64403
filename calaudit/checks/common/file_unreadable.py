"""Every file can be read.

Why: What cannot be read cannot be judged.
Fix: Give the auditor read permission on the file or folder.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("file-unreadable", gate="*", kinds=("pass", "open", "notApplicable"))
def file_unreadable(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
