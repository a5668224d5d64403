"""As many runs of each step agree as port.yaml says.

Why: One run shows that something was made, and only a second one that it is made again. A number of rebuilds that
nobody counts is a promise.
Fix: Build the step again with a functionary's key (`calaudit rebuild STEP --key URI`), which attests each build that
gives the same bytes; or say the number of rebuilds that there are.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._runs import runs_of, steps_of, wanted_isolation
from calaudit.checks.common._signed import NOBODY
from calaudit.model import Location, Result
from calaudit.trust.isolation import Isolation


@check("rebuilds-incomplete", gate="*", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def rebuilds_incomplete(view: View) -> Iterator[Result]:
    """Open for a step of which fewer runs with the bytes of the port are attested than its ``rebuilds``."""
    steps = [step for step in steps_of(view) if step.rebuilds > 1]
    if not steps:
        yield view.not_applicable("port.yaml wants no step of this gate built more than once.")
        return
    for step in view.each(steps):
        at = Location(path="port.yaml", pointer=f"/steps/{step.name}/rebuilds")
        if view.signed.trust.registry is None:
            yield view.open(f"{NOBODY}, so no run of {step.name} is attested.", at=at)
            continue
        wanted = wanted_isolation(view, step)  # a run in less than that is no second witness
        runs = [run for run in runs_of(view, step) if (run.isolation or Isolation.NONE) >= wanted]
        count = len({run.invocation for run in runs})
        if count < step.rebuilds:
            verb = "run is" if count == 1 else "runs are"
            yield view.open(f"{count} {verb} attested of the {step.rebuilds} of {step.name} that have to agree.", at=at)
