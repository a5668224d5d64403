"""Only the role that answers signs.

Why: No release owner signs for a missing quant owner; a stranger's signature beside the right one is a failure, not
noise.
Fix: Have the role's owner sign the gate; remove every other signature.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-wrong-role", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_wrong_role(view: View) -> Iterator[Result]:
    """Fail for a signature by a key that is not the role's."""
    yield from of_slots(view)
