"""Every file is one that the contract knows.

Why: A file that nothing describes is hashed by nobody and judged by nothing, yet it travels with the port.
Fix: Move the file out of the port, or to the place where the contract expects it: `calaudit schema list` and
policies/gates.yaml name the places.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import Result


@check("artifact-unexpected", gate="*", kinds=("pass", "fail", "notApplicable"))
def artifact_unexpected(view: View) -> Iterator[Result]:
    """Look for files that match no artifact."""
    for entry in view.each(view.entries()):
        if entry.spec is None:
            yield view.fail("The contract knows no such file.", at=entry.path)
    if view.examined == 0:
        yield view.not_applicable("There is no file here.")
