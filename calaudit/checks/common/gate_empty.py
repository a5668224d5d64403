"""A gate that is claimed has files.

Why: A gate in which nothing was examined says nothing, however many rules ran over it.
Fix: Produce the gate's artifacts, or lower the claim in port.yaml.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import Result


@check("gate-empty", gate="*", kinds=("pass", "open"))
def gate_empty(view: View) -> Iterator[Result]:
    """Count the gate's files."""
    view.saw(len(view.entries()))
    if view.examined == 0:
        yield view.open("The gate is claimed, but it has no file.")
