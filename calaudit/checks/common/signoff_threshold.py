"""As many different owners signed as the role demands.

Why: A threshold that one person can meet is none: keys of one owner count once.
Fix: Have more owners of the role sign (`calaudit signoff` adds a signature to the file).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_slots
from calaudit.model import Result


@check("signoff-threshold", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_threshold(view: View) -> Iterator[Result]:
    """Fail when fewer different owners signed than the role's threshold."""
    yield from of_slots(view)
