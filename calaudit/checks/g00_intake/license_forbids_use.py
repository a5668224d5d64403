"""The licence allows what the product does.

Why: A model that may not be sold or passed on cannot become a product, however well it runs.
Fix: Take a model whose licence allows it, or a licence that the owner of the weights grants for it.
"""

import re
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.licenses import read_license
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.model import Result

_NO_ATTRIBUTION = frozenset(
    {
        "a", "applicable", "attribution", "false", "n", "na", "needed", "nil", "no", "none", "not", "null", "pending",
        "required", "tba", "tbd", "todo", "true", "unknown", "yes", "不适用", "待定", "无", "暂无", "未知",
    }
)  # fmt: skip
"""Words that attribute nothing to anybody."""


@check("license-forbids-use", gate="G0", unwaivable=True)
def license_forbids_use(view: View) -> Iterator[Result]:
    """Read the terms, and compare them with what the licences are known to rule out."""
    source = view.fact(SourceManifest)
    view.saw()
    for member, allowed in (("commercial_use", source.commercial_use), ("redistribution", source.redistribution)):
        if allowed is None:
            yield view.fail(f"The manifest does not say whether the licence allows {_words(member)}.", at=at("/terms"))
        elif not allowed:
            yield view.fail(f"The licence does not allow {_words(member)}.", at=at(f"/terms/{member}"), expected="true")
    parsed = read_license(source.license)
    if parsed.forbids is not None:
        yield view.fail(f"The terms say otherwise, but {parsed.forbids}.", at=at("/license"), actual=source.license)
    if parsed.wants_attribution and not _gives(source.attribution):
        yield view.fail(
            "The licence asks for attribution, and the terms give none.",
            at=at("/terms" if source.attribution is None else "/terms/attribution"),
            expected=f"the words that {source.license} asks for: who made it, under which licence",
            actual=source.attribution,
        )
    for n, dependency in enumerate(view.each(source.dependencies or ())):
        forbids = read_license(dependency.license).forbids
        if forbids is not None:
            yield view.fail(f"The model needs {dependency.name}, but {forbids}.", at=at(f"/dependencies/{n}/license"))


def _words(member: str) -> str:
    return member.replace("_", " ")


def _gives(attribution: str | None) -> bool:
    """Whether an attribution says something."""
    return any(word not in _NO_ATTRIBUTION for word in re.findall(r"[^\W_]+", (attribution or "").casefold()))
