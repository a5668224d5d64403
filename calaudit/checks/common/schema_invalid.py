"""Every document follows its schema.

Why: A member that is missing, misspelt or of the wrong type would be ignored by whoever relies on it.
Fix: Correct the member; `calaudit schema show NAME --text` describes it, and `calaudit schema check FILE` tries again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._walked import report_problems
from calaudit.model import Result


@check("schema-invalid", gate="*", kinds=("pass", "fail", "notApplicable"))
def schema_invalid(view: View) -> Iterator[Result]:
    """Report what the evidence station met."""
    yield from report_problems(view)
