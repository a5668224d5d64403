"""No revoked key signed an attestation.

Why: A stolen key signs as well as ever; only the registry knows.
Fix: Run the step again with a functionary's key.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("attestation-revoked", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def attestation_revoked(view: View) -> Iterator[Result]:
    """Fail for a signature by a revoked key."""
    yield from of_files(view, "attestations/")
