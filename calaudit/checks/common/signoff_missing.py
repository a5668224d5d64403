"""Every role that answers for the gate has signed it.

Why: A gate is passed when the people who answer for it say so over exactly these bytes, not when a program does.
Fix: Have each role sign the gate (`calaudit signoff GATE PORT --role ROLE --key URI`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY
from calaudit.model import PORT, Kind, Result


@check("signoff-missing", gate="*", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def signoff_missing(view: View) -> Iterator[Result]:
    """Open for each role of the gate without a signoff that holds; whatever else is wrong, this one never passes."""
    spec = view.spec
    if view.gate == PORT or spec is None:
        yield view.not_applicable("The port as a whole is signed by its release.")
        return
    if view.signed.trust.registry is None:
        yield view.open(f"{NOBODY}, so no signoff by {' and '.join(spec.signers)} can be verified.")
        return
    found = {slot.role: slot for slot in view.signed.of_gate(view.gate)}
    for role in view.each(spec.signers):
        slot = found.get(role)
        if slot is None or (slot.signoff is None and slot.fault is None):
            yield view.open(f"{role} has not signed {view.gate}.", at=f"signoffs/{view.gate}.{role}.dsse.json")
        elif slot.signoff is None and slot.fault is not None:
            what = "cannot be verified" if slot.fault.kind is Kind.OPEN else "does not hold"
            yield view.open(f"The signoff of {role} {what}: {slot.fault.rule}.", at=slot.fault.at)
