"""A step read only what port.yaml declares.

Why: A file that nobody declared is an input that nobody looked at.
Fix: Declare it among the step's materials or tools, or do not read it; then run the step again (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-hidden-input", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_hidden_input(view: View) -> Iterator[Result]:
    """Fail for a material that is neither a tool nor a material of the step."""
    yield from of_links(view)
