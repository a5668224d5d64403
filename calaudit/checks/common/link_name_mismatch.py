"""A link is of the step that its name says.

Why: in-toto looks for links by name, and does not ask whether they are of that step.
Fix: Mend port.yaml where it cannot be used; else run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-name-mismatch", gate="port", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True)
def link_name_mismatch(view: View) -> Iterator[Result]:
    """Fail for a link of another step than its name says, and for one of a step that port.yaml does not declare.

    Open, once, where port.yaml cannot be used and the layout does not say so.
    """
    yield from of_links(view)
