"""Every document says which schema it follows.

Why: A document without its tag could be read under the wrong version of a schema.
Fix: Set the document's schema member to the value that the message names.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("schema-unknown", gate="*", kinds=("pass", "fail", "notApplicable"))
def schema_unknown(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
