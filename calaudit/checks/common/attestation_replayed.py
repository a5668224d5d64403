"""An attestation is of this port, this step and one run.

Why: Two attestations of one run are no second run, and another port's run is none of this one's.
Fix: Mend port.yaml where its id cannot be read, and judge the port at a moment after the run (--at, or a clock that is
slow). Else put the file where it belongs, and run the step here (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check(
    "attestation-replayed", gate="port", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True
)
def attestation_replayed(view: View) -> Iterator[Result]:
    """Fail for an attestation of another port or step, of a run that did not end, or of one attested already.

    Open where the port's id cannot be read.
    """
    yield from of_files(view, "attestations/")
