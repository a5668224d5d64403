"""Each role signed what is its own to sign.

Why: The model role answers for the reference outputs and the quality bar, whoever owns the gate.
Fix: Have the role sign the gate that holds the files (`calaudit signoff`); sign again where its signoff does not hold.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY
from calaudit.model import PORT, Kind, Result


@check("signoff-duty-missing", gate="*", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def signoff_duty_missing(view: View) -> Iterator[Result]:
    """Open for each file of a duty that no signoff of its role which holds covers."""
    duties = view.spec.duties if view.spec is not None else ()
    if not duties or view.signed.trust.registry is None:
        yield view.not_applicable("No role has a duty here." if not duties else f"{NOBODY}.")
        return
    for duty in duties:
        told = _told(view, duty.role)
        paths = [entry.path for pattern in duty.covers for entry in view.evidence.matching(pattern)]
        for path in view.each(paths):
            if not view.signed.covers(duty.role, path):
                yield view.open(told, at=path)


def _told(view: View, role: str) -> str:
    """Whether the role signed nothing that could cover the file, or something that does not hold."""
    slots = (view.signed.slots.get((gate, role)) for gate in (view.gate, PORT))
    fault, path = next(((s.fault, s.paths[0]) for s in slots if s and s.fault and s.paths), (None, ""))
    if fault is None:
        return f"{role} has not signed it, and it is that role's to sign."
    what = "cannot be verified" if fault.kind is Kind.OPEN else "does not hold"
    return f"The signoff of {role} ({path}) is there, and {what}: {fault.rule}. It is that role's to sign."
