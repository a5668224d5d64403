"""An attestation is of this port, this step and one run.

Why: Two attestations of one run are no second run, and another port's run is none of this one's.
Fix: Remove it, and run the step.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("attestation-replayed", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def attestation_replayed(view: View) -> Iterator[Result]:
    """Fail for an attestation of another port or step, of a run that did not end, or of one attested already."""
    yield from of_files(view, "attestations/")
