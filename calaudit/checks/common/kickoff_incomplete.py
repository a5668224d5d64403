"""The vendor brought what the kick-off owes.

Why: Without compiler image, replayable command, support matrix and quantization tools nothing can be compiled; the
reference, the export and the harness go on meanwhile.
Fix: Get what is missing from the vendor, and record each deliverable in vendor/kickoff.json with digest, version and
date.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.vendor.kickoff import BLOCKING, ITEMS, PATH, Kickoff
from calaudit.model import PORT, Location, Result, Verdict

_COMPILING = ("G3", "G4", "G5")
_LATER = {
    "dense-sample": ("G7",),
    "kernel-docs": ("G5",),
    "compatibility-matrix": ("G10",),
    "interface-contract": ("G7", "G8", "G9"),
}


@check("kickoff-incomplete", gate=PORT, kinds=("pass", "open"), unwaivable=True, back_to="vendor")
def kickoff_incomplete(view: View) -> Iterator[Result]:
    """Each deliverable that is missing stops the gates that need it, and only those."""
    if PATH not in view.evidence.entries:
        yield view.open(
            f"There is no {PATH}: nothing shows that the vendor brought anything.",
            at=PATH,
            blocks=Verdict.BLOCKED_COMPILER,
            blocked_gates=_COMPILING,
        )
        return
    kickoff = view.fact(Kickoff)
    places = {item.id: item.at for item in kickoff.items}
    for item in view.each(ITEMS):
        if item not in kickoff.missing:
            continue
        gates = _COMPILING if item in BLOCKING else _LATER[item]
        # What the compiler is blocked by outranks what a later gate merely lacks.
        stopped = item in BLOCKING or (kickoff.blocked and gates == ("G5",))
        started = tuple(gate for gate in gates if view.evidence.has_gate(gate))
        yield view.open(
            f"{ITEMS[item]}: not received, and {', '.join(gates)} cannot do without it.",
            at=places.get(item, Location(path=PATH, pointer="/items")),
            blocks=Verdict.BLOCKED_COMPILER if stopped else Verdict.INCOMPLETE if started else None,
            blocked_gates=gates if stopped else started or gates,
        )
