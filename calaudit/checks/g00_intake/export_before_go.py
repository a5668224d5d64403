"""Nothing is done before the decision to go.

Why: Work on a model nobody accepted creates facts nobody agreed to; without licence and targets nothing is exported.
Fix: Record the decision first; after a no-go, remove what the later gates hold.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.model import Result


@check("export-before-go", gate="G0", back_to="stop, or another model")
def export_before_go(view: View) -> Iterator[Result]:
    """Look for files of later gates while there is no go."""
    decision = view.fact(SourceManifest).decision
    later = [gate for gate in view.facts.contract.gates.gates if gate != view.gate]
    started = [gate for gate in view.each(later) if view.evidence.has_gate(gate)]
    if started and (decision is None or decision.go != "go"):
        stated = "no decision" if decision is None else decision.go
        yield view.fail(
            f"{', '.join(started)} hold files, and there is {stated}.",
            at=at("" if decision is None else "/decision/go"),
            expected="go, or no files of later gates",
            actual=stated,
        )
