"""Every path in a document stays inside the port.

Why: A path that is absolute or climbs out of the port names another file on every machine.
Fix: Write the path relative to the place that gates.yaml declares, without leaving the port.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._lists import lists_of, nothing_listed, unreadable_lists
from calaudit.model import Result


@check("path-escape", gate="*", kinds=("pass", "fail", "open", "notApplicable"))
def path_escape(view: View) -> Iterator[Result]:
    """Look at the names in lists of digests, and at what the parsers met."""
    found = list(view.problems())
    yield from found
    yield from unreadable_lists(view)
    for item in lists_of(view):
        for listed in view.each(item.listed):
            if listed.path is None:
                yield view.fail(
                    "The path leads out of the port.",
                    at=listed.at,
                    expected="a relative path inside the port",
                    actual=listed.name,
                )
    if not found:
        yield from nothing_listed(view)
