"""A waiver is for this port and lies under its own name.

Why: A waiver of another port waives nothing here.
Fix: Mend port.yaml where its id cannot be read; else remove the waiver, or have this port's owners sign one.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("waiver-replayed", gate="port", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True)
def waiver_replayed(view: View) -> Iterator[Result]:
    """Fail for a waiver of another port or gate, or under another name; open where the port's id cannot be read."""
    yield from of_files(view, "waivers/")
