"""No launch date is promised while the compiler is blocked.

Why: Without the vendor's first four deliverables nobody knows whether the model compiles, so any date is a guess.
Fix: Set launch_date to null until compiler image, replay sample, support matrix and quantization tools are there.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.vendor.kickoff import BLOCKING, PATH, Kickoff
from calaudit.model import PORT, Location, Result


@check("launch-date-promised", gate=PORT, kinds=("pass", "fail", "open", "notApplicable"), back_to="vendor")
def launch_date_promised(view: View) -> Iterator[Result]:
    """Look at the date and at what is missing."""
    if PATH not in view.evidence.entries:
        yield view.not_applicable(f"There is no {PATH}, so no date is promised in it.")
        return
    kickoff = view.fact(Kickoff)
    view.saw()
    if kickoff.launch_date is not None and kickoff.blocked:
        missing = ", ".join(item for item in BLOCKING if item in kickoff.missing)
        yield view.fail(
            f"A launch date is promised while {missing} is missing.",
            at=Location(path=PATH, pointer="/launch_date"),
            expected="null",
            actual=kickoff.launch_date,
        )
