"""Every waiver covers a failure.

Why: A waiver for something that does not fail will cover the next failure that nobody looked at.
Fix: Withdraw the waiver.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check(
    "waiver-unused", gate="port", level="warning", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True
)
def waiver_unused(view: View) -> Iterator[Result]:
    """Warn for a waiver that covers no failing result."""
    yield from of_files(view, "waivers/")
