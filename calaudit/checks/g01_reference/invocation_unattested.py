"""Both runs of the reference are attested invocations.

Why: Two reports with different ids are two files that somebody wrote. Only whoever ran a step can attest that it ran,
and a third party that it ran twice.
Fix: Nothing yet: this version of calaudit verifies no signatures, so the rule stays open. Keep both runs as they were
written; a later version signs what each invocation read and wrote.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.reference.runs import REPORT, SECOND_REPORT
from calaudit.model import Result


@check("invocation-unattested", gate="G1", kinds=("open",), trust=True, unwaivable=True)
def invocation_unattested(view: View) -> Iterator[Result]:
    """Open: no trust root is pinned, so no attestation can be verified."""
    view.saw(2)
    yield view.open(
        f"No trust root is pinned, so it cannot be verified that {REPORT} and {SECOND_REPORT} are of two invocations.",
        at=SECOND_REPORT,
    )
