"""Each owner has promised a version.

Why: Without a version nobody can say whether what came is what was promised.
Fix: Ask for the version and add it (`calaudit trust add-owner ROLE --delivery-version VERSION`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import owners_of
from calaudit.model import Result


@check("delivery-version-missing", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def delivery_version_missing(view: View) -> Iterator[Result]:
    """Fail for an owner of the gate's roles without a delivery version."""
    owners = owners_of(view)
    if not owners:
        yield view.not_applicable("No owner of this gate is known.")
        return
    for role, owner in view.each(owners):
        if owner.delivery_version is None:
            yield view.fail(f"{owner.name}, owner of {role}, has no delivery version.")
