"""The role registry can be read in one way.

Why: Two readers who disagree about a registry disagree about who may sign.
Fix: Write roles.json with `calaudit trust`, not by hand.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_trust
from calaudit.model import Result


@check("registry-malformed", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def registry_malformed(view: View) -> Iterator[Result]:
    """Fail when roles.json is no TUF metadata with our extension."""
    yield from of_trust(view)
