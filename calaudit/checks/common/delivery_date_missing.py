"""Each owner has promised a date.

Why: An owner without a date owns a wish.
Fix: Ask for the date and add it (`calaudit trust add-owner ROLE --delivery-date DATE`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import owners_of
from calaudit.model import Result


@check("delivery-date-missing", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def delivery_date_missing(view: View) -> Iterator[Result]:
    """Fail for an owner of the gate's roles without a delivery date."""
    owners = owners_of(view)
    if not owners:
        yield view.not_applicable("No owner of this gate is known.")
        return
    for role, owner in view.each(owners):
        if owner.delivery_date is None:
            yield view.fail(f"{owner.name}, owner of {role}, has no delivery date.")
