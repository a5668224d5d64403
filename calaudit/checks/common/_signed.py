"""How rules read what is signed: a fault is reported by its own rule, and what was not reached is not judged.

Nothing passes by that: `signoff-missing` is open on a gate until every signoff holds, whatever stopped it.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from calaudit.checks import View
from calaudit.model import Kind, Result
from calaudit.trust import Fault

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.registry import Owner

NOBODY = "No trust root is pinned, or what it vouches for does not hold"

_STEPS = (
    "envelope-malformed",
    "signoff-wrong-role",
    "signoff-revoked",
    "signoff-signature-invalid",
    "signoff-threshold",
    "registry-rollback",
    "signoff-replayed",
    "signoff-stale",
    "signoff-incomplete",
    "signoff-verdict-mismatch",
    "signoff-chain",
    "signoff-rejected",
)
"""The steps of a signoff's verification, in their order."""

_TRUST = (
    "trust-root-missing",
    "root-invalid",
    "registry-missing",
    "registry-malformed",
    "registry-unsigned",
    "registry-rollback",
    "registry-expired",
    "registry-unsound",
)
"""Those from the pinned root to the registry."""


def told(view: View, faults: Iterable[Fault]) -> Iterator[Result]:
    """Each fault as a result of the rule."""
    for fault in faults:
        if fault.kind is Kind.OPEN:
            yield view.open(fault.message, at=fault.at)
        else:
            yield view.fail(fault.message, at=fault.at, expected=fault.expected, actual=fault.actual)


def of_slots(view: View) -> Iterator[Result]:
    """One step of verification, for every signoff of the gate that got so far."""
    slots = [slot for slot in view.signed.of_gate(view.gate) if slot.paths]
    reached = [slot for slot in slots if slot.fault is None or _at(slot.fault, _STEPS) >= _STEPS.index(view.rule.id)]
    if not reached:
        yield view.not_applicable("No signoff got so far." if slots else "There is no signoff to look at.")
        return
    view.saw(len(reached))
    yield from told(view, [s.fault for s in reached if s.fault is not None and s.fault.rule == view.rule.id])


def of_trust(view: View) -> Iterator[Result]:
    """One step from the pinned root to the registry."""
    trust = view.signed.trust
    own = list(view.signed.faults_of(view.rule.id))
    earlier = [fault for fault in trust.faults if _at(fault, _TRUST) < _TRUST.index(view.rule.id)]
    if earlier:
        yield view.not_applicable(f"It was not looked at: {earlier[0].rule}.")
        return
    view.saw()
    yield from told(view, own)


def of_files(view: View, folder: str) -> Iterator[Result]:
    """One rule about the files of a folder, of which each holds or has a fault."""
    paths = [path for path in view.evidence.entries if path.startswith(folder)]
    if view.signed.trust.registry is None or not paths:
        yield view.not_applicable(f"There is nothing in {folder}." if not paths else f"{NOBODY}.")
        return
    view.saw(len(paths))
    yield from told(view, view.signed.faults_of(view.rule.id))


def owners_of(view: View) -> list[tuple[str, "Owner"]]:
    """The owners of the roles that sign the gate, each with its role."""
    registry = view.signed.trust.registry
    if registry is None or view.spec is None:
        return []
    roles = [registry.role(name) for name in view.spec.signers]
    return [(role.name, owner) for role in roles if role is not None for owner in role.owners]


def _at(fault: Fault, steps: tuple[str, ...]) -> int:
    return steps.index(fault.rule) if fault.rule in steps else -1
