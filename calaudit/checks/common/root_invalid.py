"""The root of trust is whole, unbroken and alive.

Why: Everything that is signed rests on the root: each version is signed by the one before it and by itself.
Fix: Get the root files again from the release owner, or rotate the root (`calaudit trust rotate`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_trust
from calaudit.model import Result


@check("root-invalid", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def root_invalid(view: View) -> Iterator[Result]:
    """Fail for the first root that does not follow from the one before it, or has expired."""
    yield from of_trust(view)
