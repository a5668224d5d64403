"""Every listed file exists.

Why: A digest of a file that is not there vouches for nothing, and hides that something was lost.
Fix: Restore the file, give the content-addressed URI where it is kept, or take it off the list.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._lists import lists_of, nothing_listed, unreadable_lists
from calaudit.model import Result


@check("digest-dangling", gate="*", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def digest_dangling(view: View) -> Iterator[Result]:
    """Look for listed files that are neither in the port nor kept elsewhere by content address."""
    yield from unreadable_lists(view)
    for item in lists_of(view):
        for listed in view.each(item.listed):
            if listed.path is not None and listed.path not in view.evidence.entries and listed.kept_at is None:
                yield view.fail(f"{listed.path} is listed, but it is not in the port.", at=listed.at)
    yield from nothing_listed(view)
