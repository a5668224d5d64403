"""No publication is cut off half-way.

Why: A run publishes all its products together. While its journal lies in the port, some files are of before the run and
some of after it, and nobody can say which state the rest of the evidence speaks of.
Fix: Run `calaudit run` for any step of the port: it first completes what was committed, or rolls back what was not.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.evidence.litter import JOURNAL
from calaudit.model import PORT, Result

_COMMIT = f"{JOURNAL}commit.json"


@check("journal-pending", gate=PORT, kinds=("pass", "open"), unwaivable=True)
def journal_pending(view: View) -> Iterator[Result]:
    """Open while anything of a journal is there, whether or not it can be read."""
    problems = [
        problem.location.path for problem in view.evidence.problems if problem.location.path.startswith(JOURNAL)
    ]
    found = sorted({*(path for path in view.each(view.evidence.entries) if path.startswith(JOURNAL)), *problems})
    if found:
        committed = _COMMIT in found
        state = "was committed, and is not completed" if committed else "began, and was not committed"
        yield view.open(f"The publication of a run {state}.", at=_COMMIT if committed else found[0])
