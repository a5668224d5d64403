"""The command that ran is the one that port.yaml declares.

Why: Another command makes other files. in-toto logs the difference, and passes.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-command-mismatch", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_command_mismatch(view: View) -> Iterator[Result]:
    """Fail for a link with another command than its step has."""
    yield from of_links(view)
