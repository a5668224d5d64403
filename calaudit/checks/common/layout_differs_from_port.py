"""The layout is what port.yaml and the registry come to today.

Why: A layout that demands less than the port declares, or lets others run it, proves less than it seems to.
Fix: Mend port.yaml where it cannot be used; else compile the layout again and have the release owners sign it
(`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check(
    "layout-differs-from-port",
    gate="port",
    kinds=("pass", "fail", "open", "notApplicable"),
    trust=True,
    unwaivable=True,
)
def layout_differs_from_port(view: View) -> Iterator[Result]:
    """Fail when the layout is another one than the port's steps and the registry's functionaries make.

    Open where port.yaml cannot be used.
    """
    yield from of_layout(view)
