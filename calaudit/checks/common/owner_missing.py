"""The gate has a named owner.

Why: "The vendor" does not answer the phone: a gate needs a person or a team with a delivery date and a version.
Fix: Add the owner to the registry (`calaudit trust add-owner ROLE`), and have the root's owners sign it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY
from calaudit.model import PORT, Result


@check("owner-missing", gate="*", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True)
def owner_missing(view: View) -> Iterator[Result]:
    """Fail when a role that signs the gate has no owner in the registry; open without a registry."""
    spec = view.spec
    if view.gate == PORT or spec is None:
        yield view.not_applicable("Gates have owners; the port has its release owner.")
        return
    registry = view.signed.trust.registry
    if registry is None:
        yield view.open(f"{NOBODY}, so nobody is known to own the role {spec.owner}.")
        return
    for name in view.each(spec.signers):
        if registry.role(name) is None:
            yield view.fail(f"Nobody owns the role {name}.")
