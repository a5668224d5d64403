"""The root's owners signed the role registry.

Why: Whoever can add a key to the registry can approve a gate.
Fix: Have the owners of the root sign roles.json (`calaudit trust sign DIR --key URI`), as many as its threshold says.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_trust
from calaudit.model import Result


@check("registry-unsigned", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def registry_unsigned(view: View) -> Iterator[Result]:
    """Fail when fewer root keys signed it than the threshold."""
    yield from of_trust(view)
