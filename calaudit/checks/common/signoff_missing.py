"""The accountable role has signed the gate.

Why: A gate is passed when the person who answers for it says so over exactly these bytes, not when a program does.
Fix: Nothing yet: this version of calaudit verifies no signatures, so the rule stays open. A later one asks the role to
sign the gate's technical digest.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import PORT, Result


@check("signoff-missing", gate="*", kinds=("open", "notApplicable"), trust=True, unwaivable=True)
def signoff_missing(view: View) -> Iterator[Result]:
    """Open: no trust root is pinned, so no signature can be verified."""
    spec = view.spec
    if view.gate == PORT or spec is None:
        yield view.not_applicable("The port as a whole is signed by its release.")
        return
    roles = " and ".join((spec.owner, *spec.cosigners))
    yield view.open(f"No trust root is pinned, so no signoff by {roles} can be verified.")
