"""Every signature of the layout fits its bytes.

Why: A signature that does not fit was made for something else, or by nobody.
Fix: Compile it again and have the release owners sign it (`calaudit layout`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_layout
from calaudit.model import Result


@check("layout-signature-invalid", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def layout_signature_invalid(view: View) -> Iterator[Result]:
    """Fail for a signature that does not verify."""
    yield from of_layout(view)
