"""Every file that a list must cover is on it.

Why: A file that stands beside a list without being on it can be swapped without anybody noticing.
Fix: Run the step again that writes the list, or take the file out of the port.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._lists import lists_of, nothing_listed, unreadable_lists
from calaudit.facts.digests import covered
from calaudit.model import Result


@check("digest-unlisted", gate="*", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def digest_unlisted(view: View) -> Iterator[Result]:
    """Look for files that match what a list covers and are not on it."""
    yield from unreadable_lists(view)
    for item in lists_of(view):
        listed = {line.path for line in item.listed}
        for path in view.each(covered(view.facts, item)):
            if path not in listed:
                yield view.fail(f"{item.document} does not list this file.", at=path)
    yield from nothing_listed(view)
