"""A signoff names every artifact of its gate.

Why: What a signoff leaves out can be anything.
Fix: Have the role sign the gate again; `calaudit signoff` names every file.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-incomplete", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_incomplete(view: View) -> Iterator[Result]:
    """Fail when a file of the gate is not among the subjects."""
    yield from of_slots(view)
