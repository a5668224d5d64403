"""What the vendor says is signed by the compiler role.

Why: A support matrix that nobody signed confirms nothing, yet a port is judged by it.
Fix: Nothing yet: this version of calaudit verifies no signatures, so the rule stays open. Keep the documents in vendor/
as the vendor sent them; a later version asks the compiler role to sign them.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import Result


@check("vendor-unsigned", gate="port", kinds=("open", "notApplicable"), trust=True, unwaivable=True)
def vendor_unsigned(view: View) -> Iterator[Result]:
    """Open for every file directly in vendor/: no trust root is pinned."""
    documents = view.evidence.matching("vendor/*")
    for entry in view.each(documents):
        yield view.open("No trust root is pinned, so the compiler role's signature cannot be verified.", at=entry.path)
    if not documents:
        yield view.not_applicable("There is no document of the vendor.")
