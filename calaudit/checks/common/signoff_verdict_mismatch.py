"""The signed verdict is today's verdict.

Why: The same files under another profile, or beside other documents, are another result.
Fix: Compare the findings with those that were signed, then have the role sign the gate again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check(
    "signoff-verdict-mismatch", gate="*", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True
)
def signoff_verdict_mismatch(view: View) -> Iterator[Result]:
    """Fail when, under the same contract, the technical verdict is not the one that was signed.

    Open where the port's profile or stage, by which it is judged, cannot be read.
    """
    yield from of_slots(view)
