"""Every signature of an attestation fits its bytes.

Why: A signature that does not fit was made for something else, or by nobody.
Fix: Run the step again with a functionary's key.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check(
    "attestation-signature-invalid", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True
)
def attestation_signature_invalid(view: View) -> Iterator[Result]:
    """Fail for a signature that does not verify."""
    yield from of_files(view, "attestations/")
