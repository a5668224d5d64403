"""Only functionaries sign attestations.

Why: A signature by anybody but a functionary of the role means nothing, and wants to look like something.
Fix: Run the step again with a functionary's key.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("attestation-wrong-role", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def attestation_wrong_role(view: View) -> Iterator[Result]:
    """Fail for a signature by a key that may not sign it."""
    yield from of_files(view, "attestations/")
