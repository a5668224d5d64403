"""Names and text are free of control and bidirectional characters.

Why: They make a terminal, a diff or a reviewer see something else than what is there.
Fix: Remove the characters, or rename the file.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("control-character", gate="*", kinds=("pass", "fail", "notApplicable"))
def control_character(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
