"""What a link names is what is there.

Why: A file that changed after the step was made by nobody. in-toto looks at files only through inspections.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-stale", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_stale(view: View) -> Iterator[Result]:
    """Fail when a material or product changed or is gone."""
    yield from of_links(view)
