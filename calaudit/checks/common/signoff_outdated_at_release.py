"""A release is signed under today's contract.

Why: What is released is what its owners saw, judged by the rules that are in force.
Fix: Have the role look at the gate again and sign it (`calaudit signoff`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.port import PortFact
from calaudit.model import Result


@check("signoff-outdated-at-release", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_outdated_at_release(view: View) -> Iterator[Result]:
    """Fail, at stage release, for a signoff under another contract."""
    held = [slot.signoff for slot in view.signed.of_gate(view.gate) if slot.signoff is not None]
    # Not view.port, which stands in with a default where port.yaml cannot be read.
    if not held or view.fact(PortFact).stage != "release":
        yield view.not_applicable("It counts at stage release, where a signoff holds.")
        return
    for signoff in view.each(held):
        if signoff.outdated is not None:
            fault = signoff.outdated
            yield view.fail(fault.message, at=fault.at, expected=fault.expected, actual=fault.actual)
