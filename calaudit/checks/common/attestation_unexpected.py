"""Every file in attestations/ is one that is verified.

Why: An attestation that nobody verifies may be taken for one that counts.
Fix: Keep provenance (*.dsse.json), links (*.link) and root.layout only.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_files
from calaudit.model import Result


@check("attestation-unexpected", gate="port", kinds=("pass", "open", "notApplicable"), trust=True, unwaivable=True)
def attestation_unexpected(view: View) -> Iterator[Result]:
    """Open for each file that is neither provenance, nor a link, nor the layout."""
    yield from of_files(view, "attestations/")
