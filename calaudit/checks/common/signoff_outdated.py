"""Signoffs were made under today's contract.

Why: Rules that came since were not looked at by whoever signed.
Fix: Have the role look at the gate again and sign it (`calaudit signoff`, with the --policy that you verify with).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import Result


@check(
    "signoff-outdated", gate="*", level="warning", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True
)
def signoff_outdated(view: View) -> Iterator[Result]:
    """Warn for a signoff under another contract; the gate is judged by today's all the same."""
    held = [slot.signoff for slot in view.signed.of_gate(view.gate) if slot.signoff is not None]
    if not held:
        yield view.not_applicable("No signoff holds here.")
        return
    for signoff in view.each(held):
        if signoff.outdated is not None:
            fault = signoff.outdated
            yield view.fail(fault.message, at=fault.at, expected=fault.expected, actual=fault.actual)
