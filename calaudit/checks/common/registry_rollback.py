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
    registry = view.signed.trust.registry
    if registry is not None:
        view.saw()
    faults = [slot.fault for slot in view.signed.slots.values() if slot.fault is not None]
    yield from told(view, [*view.signed.faults_of(view.rule.id), *(f for f in faults if f.rule == view.rule.id)])
