"""The phase before this one was closed.

Why: Two chips and experts are not the place to learn what one chip and a dense model would have shown: what fails then
has too many causes.
Fix: Release a port of the earlier phase first, or judge this one by the profile of that phase (profile in port.yaml).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.port import PATH
from calaudit.model import Location, Result


@check("phase-skipped", gate="G0", kinds=("open", "notApplicable"))
def phase_skipped(view: View) -> Iterator[Result]:
    """Ask for the release of an earlier port by the same owner, where the profile demands one.

    What proves a release is signed at G10, which this version does not judge: so none is ever known.
    """
    if view.params["earlier_phase_released"] is not True:
        yield view.not_applicable("The profile is of the first phase, or of none.")
        return
    yield view.open(
        f"The profile {view.port.profile} demands a released port of the phase before it by the same owner; none is "
        "known: calaudit does not judge G10 yet, which would prove its release.",
        at=Location(path=PATH, pointer="/profile"),
    )
