"""Nothing changed while it was read.

Why: Bytes that change under the auditor are neither the old nor the new file, and nothing can be said of them.
Fix: Stop whatever writes to the port, then audit again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("changed-while-read", gate="*", kinds=("pass", "fail", "notApplicable"))
def changed_while_read(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
