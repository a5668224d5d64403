"""Every required artifact is there.

Why: A gate is judged by its artifacts; without one of them its rules have nothing to look at.
Fix: Produce it with the gate's step, restore it, or lower the claim in port.yaml. A folder of its name goes elsewhere.
"""

from collections.abc import Iterator
from itertools import islice

from calaudit.checks import View, check
from calaudit.checks.common._near import HINTS, described, meant_file, strangers
from calaudit.contract.globs import Glob
from calaudit.model import Result

_IN_ITS_PLACE = ("symlink", "special-file", "file-unreadable", "changed-while-read")
"""The rules that tell of something which is there by the artifact's name, and cannot be read as that file."""


@check("artifact-missing", gate="*", kinds=("pass", "open"))
def artifact_missing(view: View) -> Iterator[Result]:
    """Look for every required artifact of the gate.

    What stands in the place of one is told by its own rule, too. That finding may be waived, and leaves the artifact
    missing.
    """
    specs = view.spec.artifacts if view.spec else view.facts.contract.gates.port
    missing = [spec for spec in view.each(s for s in specs if s.required) if not view.evidence.matching(spec.pattern)]
    instead = _instead(view) if missing else {}
    told = {
        problem.location.path: rule for rule in _IN_ITS_PLACE for problem in view.evidence.problems_of(rule, view.gate)
    }
    for spec in missing:
        place = next((path for path in told if Glob(spec.pattern).matches(path)), None)
        if place is not None:
            yield view.open(f"What stands there cannot be read as the file ({told[place]}).", at=place)
            continue
        if spec.pattern in view.evidence.folders:
            yield view.open(f"A folder stands in the place of the file {spec.pattern}.", at=spec.pattern)
            continue
        what = f"{spec.name}, {described(spec.pattern)}," if spec.is_glob else spec.pattern
        hint = f" Is {instead[spec.pattern]} meant to be it?" if spec.pattern in instead else ""
        yield view.open(f"{what} is missing.{hint}", at=spec.pattern)


def _instead(view: View) -> dict[str, str]:
    """Files that the contract does not know, by the missing artifact that each is probably meant to be."""
    alone = islice((place for place, paths in strangers(view).items() if paths == [place]), HINTS)
    return {meant: place for place in alone if (meant := meant_file(view, place)) is not None}
