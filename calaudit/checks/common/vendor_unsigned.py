"""What the vendor says is signed by the compiler role.

Why: A support matrix that nobody signed confirms nothing, yet a port is judged by it.
Fix: Have the compiler role sign the documents (`calaudit signoff port PORT --role compiler --key URI`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import Result

COMPILER = "compiler"


@check("vendor-unsigned", gate="port", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def vendor_unsigned(view: View) -> Iterator[Result]:
    """Open for every file in vendor/ that no signoff of the compiler role covers."""
    duties = [duty for duty in view.facts.contract.gates.duties if duty.role == COMPILER]
    paths = [entry.path for duty in duties for pattern in duty.covers for entry in view.evidence.matching(pattern)]
    if not paths:
        yield view.not_applicable("There is no document of the vendor.")
        return
    for path in view.each(paths):
        if not view.signed.covers(COMPILER, path):
            yield view.open("The compiler role has not signed it.", at=path)
