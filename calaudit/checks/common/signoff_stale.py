"""What was signed is what is there.

Why: A file that changed after it was signed was approved by nobody.
Fix: Look at what changed (`git diff`), then have the role sign the gate again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-stale", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_stale(view: View) -> Iterator[Result]:
    """Fail when a signed file, attestation or waiver changed or is gone."""
    yield from of_slots(view)
