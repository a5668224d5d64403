"""Attested files are for the bytes that are there.

Why: An attestation of other bytes says nothing of these.
Fix: Run the step again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("attestation-stale", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def attestation_stale(view: View) -> Iterator[Result]:
    """Fail when a file that was read or written changed or is gone."""
    yield from of_files(view, "attestations/")
