"""Every document can be read in exactly one way.

Why: Duplicate keys, NaN, aliases or huge numbers mean different things to different parsers, so two tools would judge
two documents.
Fix: Write the document again with a strict serializer; the message says what was met and where.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("document-malformed", gate="*", kinds=("pass", "fail", "notApplicable"))
def document_malformed(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
