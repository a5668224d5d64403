"""There is a role registry.

Why: Without a registry nobody is known to own a role.
Fix: Fetch roles.json of the trust directory, or make it (`calaudit trust init`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_trust
from calaudit.model import Result


@check("registry-missing", gate="port", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def registry_missing(view: View) -> Iterator[Result]:
    """Open without a registry."""
    yield from of_trust(view)
