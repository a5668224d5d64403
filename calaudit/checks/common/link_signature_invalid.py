"""The signature of a link fits its bytes.

Why: A signature that does not fit was made for something else, or by nobody.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-signature-invalid", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_signature_invalid(view: View) -> Iterator[Result]:
    """Fail for a signature that does not verify."""
    yield from of_links(view)
