"""Every signature fits the bytes it stands under.

Why: A signature that does not fit was made for something else, or by nobody.
Fix: Have the role sign the gate again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check(
    "signoff-signature-invalid", gate="*", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True
)
def signoff_signature_invalid(view: View) -> Iterator[Result]:
    """Fail for a signature that does not verify; open for a keyless one that cannot be looked at."""
    yield from of_slots(view)
