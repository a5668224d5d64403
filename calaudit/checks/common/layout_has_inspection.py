"""The layout runs nothing where it is verified.

Why: An inspection is a command that the verifier runs, chosen by whoever wrote the layout.
Fix: Leave inspections out: what they would look at is a step, or a rule of the auditor.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-has-inspection", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_has_inspection(view: View) -> Iterator[Result]:
    """Fail for a layout with inspections."""
    yield from of_layout(view)
