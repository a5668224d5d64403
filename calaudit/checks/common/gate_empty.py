"""A gate that is claimed has files.

Why: A gate in which nothing was examined says nothing, however many rules ran over it.
Fix: Produce the gate's artifacts, or lower the claim in port.yaml.
"""

from collections.abc import Iterator
from itertools import islice

from calaudit.checks import View, check
from calaudit.checks.common._near import HINTS, meant_folder, strangers
from calaudit.model import Result


@check("gate-empty", gate="*", kinds=("pass", "open"))
def gate_empty(view: View) -> Iterator[Result]:
    """Count the gate's files."""
    view.saw(len(view.entries()))
    if view.examined == 0:
        folders = view.facts.contract.gates.folders
        folder = next((name for name, gate in folders.items() if gate == view.gate), None)
        if folder is None:
            yield view.open("The gate is claimed, but it has no file.")
            return
        tops = islice((place for place, paths in strangers(view).items() if paths != [place]), HINTS)
        moved = [place for place in tops if meant_folder(view, place) == folder]
        hint = f"; {moved[0]}/ is there instead, is it meant?" if moved else "."
        yield view.open(f"The gate is claimed, but {folder}/ holds no file{hint}")
