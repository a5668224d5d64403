"""A signoff rests on the signoffs below it as they are.

Why: When a gate below was signed again, what was built on it was built on something else.
Fix: Have the gates above sign again, in order.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-chain", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_chain(view: View) -> Iterator[Result]:
    """Fail when a signoff below is gone, new, or not the one that has to be below."""
    yield from of_slots(view)
