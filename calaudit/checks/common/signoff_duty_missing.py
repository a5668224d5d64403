"""Each role signed what is its own to sign.

Why: The model role answers for the reference outputs and the quality bar, whoever owns the gate.
Fix: Have the role sign the gate that holds the files (`calaudit signoff`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY
from calaudit.model import Result


@check("signoff-duty-missing", gate="*", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def signoff_duty_missing(view: View) -> Iterator[Result]:
    """Open for each file of a duty that no signoff of its role covers."""
    duties = view.spec.duties if view.spec is not None else ()
    if not duties or view.signed.trust.registry is None:
        yield view.not_applicable("No role has a duty here." if not duties else f"{NOBODY}.")
        return
    for duty in duties:
        paths = [entry.path for pattern in duty.covers for entry in view.evidence.matching(pattern)]
        for path in view.each(paths):
            if not view.signed.covers(duty.role, path):
                yield view.open(f"{duty.role} has not signed it, and it is that role's to sign.", at=path)
