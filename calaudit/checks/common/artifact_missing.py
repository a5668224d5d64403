"""Every required artifact is there.

Why: A gate is judged by its artifacts; without one of them its rules have nothing to look at.
Fix: Produce the artifact with the gate's step, or lower the claim in port.yaml.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import Result


@check("artifact-missing", gate="*", kinds=("pass", "open"))
def artifact_missing(view: View) -> Iterator[Result]:
    """Look for every required artifact of the gate."""
    specs = view.spec.artifacts if view.spec else view.facts.contract.gates.port
    for spec in view.each(s for s in specs if s.required):
        if not view.evidence.matching(spec.pattern):
            yield view.open(f"{spec.name} is missing; it belongs at {spec.pattern}.", at=spec.pattern)
