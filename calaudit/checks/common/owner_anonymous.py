"""Each owner is somebody.

Why: A name that stands for everybody answers for nothing.
Fix: Name the person or team in the registry (`calaudit trust add-owner ROLE --name NAME`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import owners_of
from calaudit.facts.source.people import is_named
from calaudit.model import Result


@check("owner-anonymous", gate="*", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def owner_anonymous(view: View) -> Iterator[Result]:
    """Fail for an owner called `vendor support`, TBD or the like."""
    owners = owners_of(view)
    if not owners:
        yield view.not_applicable("No owner of this gate is known.")
        return
    for role, owner in view.each(owners):
        if not is_named(owner.name):
            yield view.fail(f"The owner of {role} is called {owner.name!r}: that is nobody.")
