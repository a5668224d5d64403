"""Every file in signoffs/ fills a slot.

Why: A signoff that nobody looks at may be taken for one that counts.
Fix: Name it <gate>.<role>.dsse.json, or remove it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("signoff-unexpected", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def signoff_unexpected(view: View) -> Iterator[Result]:
    """Fail for each file in signoffs/ that is nobody's signoff."""
    yield from of_files(view, "signoffs/")
