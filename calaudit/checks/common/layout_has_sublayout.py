"""No step is handed on.

Why: A layout in the place of a link lets a functionary say who else runs the step, and how.
Fix: Have a functionary of the role run the step itself.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("layout-has-sublayout", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_has_sublayout(view: View) -> Iterator[Result]:
    """Fail for a layout in the place of a link."""
    yield from of_links(view)
