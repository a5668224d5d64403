"""Every listed digest is that of the file it names.

Why: A file that differs from its listed digest is not the file that was measured, reviewed or signed.
Fix: Restore the file as it was listed (`git checkout`, `git lfs pull`, no conversion of line endings), or, if the new
file is meant, run the step again that writes the list.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._changed import because
from calaudit.checks.common._lists import lists_of, nothing_listed, unreadable_lists
from calaudit.facts.digests import Listed, content_address
from calaudit.model import Result


@check("digest-mismatch", gate="*", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def digest_mismatch(view: View) -> Iterator[Result]:
    """Compare digests and sizes; a name listed twice must be listed alike."""
    yield from unreadable_lists(view)
    for item in lists_of(view):
        seen: dict[str, Listed] = {}
        for listed in view.each(item.listed):
            yield from _compare(view, listed)
            first = seen.setdefault(listed.name, listed)
            if first.sha256 != listed.sha256:
                yield view.fail(
                    f"{listed.name} is listed twice with different digests.",
                    at=listed.at,
                    expected=first.sha256,
                    actual=listed.sha256,
                )
    yield from nothing_listed(view)


def _compare(view: View, listed: Listed) -> Iterator[Result]:
    if listed.kept_at is not None and content_address(listed.kept_at) != listed.sha256:
        yield view.fail(
            f"{listed.name} is kept at an address that does not carry its digest.",
            at=listed.at,
            expected=f"…#sha256={listed.sha256}",
            actual=listed.kept_at,
        )
    entry = view.evidence.entries.get(listed.path) if listed.path else None
    if entry is None:
        if listed.kept_at is not None:
            message = f"{listed.name} is kept elsewhere, and nothing in the port attests its bytes."
            yield view.open(message, at=listed.at)
        return
    if entry.sha256 != listed.sha256:
        yield view.fail(
            f"{listed.path} is not the file that is listed{because(view, entry, listed.sha256)}.",
            at=listed.at,
            expected=f"sha256 {listed.sha256}",
            actual=f"sha256 {entry.sha256}",
        )
    elif listed.size is not None and entry.size != listed.size:
        yield view.fail(
            f"{listed.path} has another size than is listed.",
            at=listed.at,
            expected=f"{listed.size} bytes",
            actual=f"{entry.size} bytes",
        )
