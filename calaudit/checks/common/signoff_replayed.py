"""A signoff lies where it was made for.

Why: A signoff of another port, gate or role says nothing here, however well it is signed.
Fix: Mend port.yaml where its id cannot be read; else have the role sign this gate of this port.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-replayed", gate="*", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True)
def signoff_replayed(view: View) -> Iterator[Result]:
    """Fail when port, gate or role of the statement are not those of the slot; open where the id cannot be read."""
    yield from of_slots(view)
