"""The source is pinned to one commit.

Why: A branch or a tag moves, so the weights that were judged may not be the weights that are fetched next week.
Fix: Set repository to the model's URL and revision to the full commit (40 hexadecimal digits) or a SHA-256.
"""

import re
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.model import Result

_HUB = re.compile(
    r"https://(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<name>[^/?#]+/[^/?#]+?)(?:\.git)?(?:[/?#].*)?", re.IGNORECASE
)
"""A model's address on the hub, which calls it as its id does; a mirror may call it otherwise."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@check("revision-not-pinned", gate="G0", unwaivable=True)
def revision_not_pinned(view: View) -> Iterator[Result]:
    """Look at the revision and at the repository it is a revision of."""
    source = view.fact(SourceManifest)
    view.saw()
    if source.repository is None:
        yield view.fail("The manifest does not say which repository the revision is of.", at=at(""))
    else:
        hub, name = _HUB.fullmatch(source.repository), source.model_id.rpartition("@")[0]
        if hub is not None and hub["name"].lower() != name.lower():
            yield view.fail(
                "The repository is that of another model than the model id names.",
                at=at("/repository"),
                expected=name,
                actual=source.repository,
            )
    if source.revision is None:
        yield view.fail("The manifest names no revision.", at=at(""), expected="a full commit")
    elif not _COMMIT.fullmatch(source.revision):
        yield view.fail(
            "The revision is not a full commit; a branch, a tag or a short commit can come to mean something else.",
            at=at("/revision"),
            expected="40 or 64 lower-case hexadecimal digits",
            actual=source.revision,
        )
    elif len(set(source.revision)) == 1:
        yield view.fail("The revision is one digit repeated, which is no commit.", at=at("/revision"))
