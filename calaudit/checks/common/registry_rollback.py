"""The role registry is not older than one seen before.

Why: An old registry still knows keys that were revoked since.
Fix: Fetch the newest trust directory; if two histories exist, ask the root's owners which one is theirs.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import told
from calaudit.model import Result


@check("registry-rollback", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def registry_rollback(view: View) -> Iterator[Result]:
    """Fail for a registry older than the highest seen, or than the one a signoff was made under."""
    signed = view.signed
    slots = [slot.fault for slot in signed.slots.values() if slot.fault is not None]
    faults = [*signed.faults_of(view.rule.id), *(fault for fault in slots if fault.rule == view.rule.id)]
    if signed.trust.registry is None and not faults:
        yield view.not_applicable("There is no registry that could be older than another.")
        return
    view.saw()
    yield from told(view, faults)
