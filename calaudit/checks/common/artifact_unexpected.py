"""Every file is one that the contract knows.

Why: A file that nothing describes is hashed by nobody and judged by nothing, yet it travels with the port.
Fix: Move the file out of the port, or give it the name and place that the contract expects: `calaudit schema list` and
`calaudit explain GATE` name them.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._near import HINTS, meant_file, meant_folder, strangers
from calaudit.evidence.litter import is_litter
from calaudit.model import Result

_NAMED = 3


@check("artifact-unexpected", gate="*", kinds=("pass", "fail", "notApplicable"))
def artifact_unexpected(view: View) -> Iterator[Result]:
    """Look for files that match no artifact; a strange folder is told once, and so is what tools leave behind."""
    here = {entry.path for entry in view.each(view.entries())}
    for n, (place, paths) in enumerate(strangers(view).items()):
        of_gate = [path for path in paths if path in here]
        if len(of_gate) == 1:
            meant = meant_file(view, of_gate[0]) if n < HINTS else None
            yield view.fail(f"The contract knows no such file{_asked(meant)}", at=of_gate[0])
        elif of_gate:
            meant = meant_folder(view, place) if n < HINTS else None
            count, asked = len(of_gate), _asked(meant and f"{meant}/")
            yield view.fail(f"The contract knows no such folder; {place}/ holds {count} files{asked}", at=place)
    litter = [entry.path for entry in view.entries() if entry.spec is None and is_litter(entry.path)]
    if litter:
        names = ", ".join(litter[:_NAMED]) + (f" and {len(litter) - _NAMED} more" if len(litter) > _NAMED else "")
        yield view.fail(
            f"What git, a desktop or a repository keeps for itself is no part of a port: {names}. A release must not "
            "ship it. Delete it, or keep it outside the port; empty folders need no placeholder.",
            # A waiver names one file: what speaks of several must have no place that one could cover.
            at=litter[0] if len(litter) == 1 else None,
        )
    if view.examined == 0:
        yield view.not_applicable("There is no file here.")


def _asked(meant: str | None) -> str:
    return "." if meant is None else f"; did you mean {meant}?"
