"""How rules read the layout and the links of a port's steps: what was not reached is not judged."""

from collections.abc import Iterator

from calaudit.checks import View
from calaudit.checks.common._signed import NOBODY, told
from calaudit.model import Result
from calaudit.trust.steps import LAYOUT

_LAYOUT_STEPS = (
    "envelope-malformed",
    "layout-malformed",
    "layout-wrong-role",
    "layout-revoked",
    "layout-signature-invalid",
    "layout-threshold",
    "layout-expired",
    "layout-has-inspection",
    "layout-empty",
    "layout-key-unsound",
    "layout-unknown-step",
    "layout-differs-from-port",
)
"""The steps of a layout's verification, in their order."""


def of_layout(view: View) -> Iterator[Result]:
    """One step of the layout's verification, if it got so far."""
    if view.signed.trust.registry is None or LAYOUT not in view.evidence.entries:
        there = LAYOUT in view.evidence.entries
        yield view.not_applicable(f"{NOBODY}." if there else "There is no layout.")
        return
    own = _LAYOUT_STEPS.index(view.rule.id)
    earlier = [rule for rule in _LAYOUT_STEPS[:own] if any(_at_layout(view, rule))]
    if earlier:
        yield view.not_applicable(f"It was not looked at: {earlier[0]}.")
        return
    view.saw()
    yield from told(view, view.signed.faults_of(view.rule.id))


def of_links(view: View) -> Iterator[Result]:
    """One rule about the links, of which each holds or has a fault."""
    paths = [path for path in view.evidence.entries if path.startswith("attestations/") and path.endswith(".link")]
    if view.signed.trust.registry is None or not paths:
        yield view.not_applicable(f"{NOBODY}." if paths else "There is no link.")
        return
    view.saw(len(paths))
    yield from told(view, view.signed.faults_of(view.rule.id))


def _at_layout(view: View, rule: str) -> Iterator[bool]:
    yield from (fault.at is not None and fault.at.path == LAYOUT for fault in view.signed.faults_of(rule))
