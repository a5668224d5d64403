"""The role registry is alive.

Why: An expired registry may name people who left, and nobody would notice.
Fix: Confirm who owns what and sign a new version (`calaudit trust sign DIR --key URI`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_trust
from calaudit.model import Result


@check("registry-expired", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def registry_expired(view: View) -> Iterator[Result]:
    """Fail after the registry's expiry."""
    yield from of_trust(view)
