"""Nobody counts twice in the role registry.

Why: One key under two ids, in two roles or with two owners meets a threshold alone.
Fix: Give every role and owner keys of their own (`calaudit trust add-owner`), then sign the registry again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_trust
from calaudit.model import Result


@check("registry-unsound", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def registry_unsound(view: View) -> Iterator[Result]:
    """Fail for each way in which one key or person could count as several."""
    yield from of_trust(view)
