"""No owner rejected the gate.

Why: An owner who says no has a reason.
Fix: Read the reason, repair what it names, and have the owner sign again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-rejected", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_rejected(view: View) -> Iterator[Result]:
    """Fail for a signoff whose decision is reject."""
    yield from of_slots(view)
