"""The gate has one named owner.

Why: "The vendor" does not answer the phone: a gate needs a person or a team with a delivery date and a version.
Fix: Nothing yet: this version of calaudit verifies no signatures, so the rule stays open. A later one reads the owner
from a signed registry of roles.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import PORT, Result


@check("owner-missing", gate="*", kinds=("open", "notApplicable"), trust=True, unwaivable=True)
def owner_missing(view: View) -> Iterator[Result]:
    """Open: owners stand in the role registry, and no trust root is pinned."""
    if view.gate == PORT or view.spec is None:
        yield view.not_applicable("Gates have owners; the port has its release owner.")
        return
    yield view.open(f"No trust root is pinned, so nobody is known to own the role {view.spec.owner}.")
