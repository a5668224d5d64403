"""Every licence is known.

Why: Nobody may use, convert or ship a model whose licence, or that of what it depends on, nobody can name.
Fix: Give SPDX expressions for the model and its dependencies, the model's being that of its own card; put the text of
a LicenseRef- beside the config.
"""

import posixpath
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.errors import MissingFact
from calaudit.facts.source.licenses import REFERENCE, names, read_license
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.facts.source.model_card import ModelCard
from calaudit.model import Location, Result

_TEXTS = ("license", "licence", "copying", "use_policy", "terms")


@check("license-unknown", gate="G0", unwaivable=True)
def license_unknown(view: View) -> Iterator[Result]:
    """Parse the licence of the model and of each dependency; one off the SPDX list needs its text; ask the card."""
    source = view.fact(SourceManifest)
    view.saw()
    yield from _judge(view, source, source.license, at("/license"))
    yield from _card(view, source)
    if source.dependencies is None:
        yield view.fail("The manifest does not list the dependencies and their licences.", at=at(""), expected="a list")
    for n, dependency in enumerate(view.each(source.dependencies or ())):
        yield from _judge(view, source, dependency.license, at(f"/dependencies/{n}/license"), of=dependency.name)


def _card(view: View, source: SourceManifest) -> Iterator[Result]:
    """The manifest names the licence that the model's card names, or one of its own whose text the source holds."""
    try:
        card = view.fact(ModelCard)
    except MissingFact as missing:
        if missing.at is not None and missing.at.path in view.evidence.entries:
            yield view.open(missing.message, at=missing.at)
        return
    parsed = read_license(source.license)
    for word in view.each(card.licenses):
        if parsed.problem is None and not parsed.references and not names(parsed, word):
            yield view.fail(
                "The model's card names another licence than the manifest.",
                at=at("/license"),
                expected=f"{word}, as {card.path} says, or a {REFERENCE} with the text of what its owner granted",
                actual=source.license,
            )


def _judge(view: View, source: SourceManifest, text: str, place: Location, of: str = "the model") -> Iterator[Result]:
    parsed = read_license(text)
    if parsed.problem is not None:
        yield view.fail(
            f"The licence of {of} is unknown. {parsed.problem}", at=place, expected="an SPDX expression", actual=text
        )
    for reference in parsed.references:
        if not any(_is_text(view, file.path, reference, general=of == "the model") for file in source.files):
            yield view.fail(
                f"The licence of {of} is not on the SPDX list, and its text is not in the source.",
                at=place,
                expected=f"a listed file such as hf-config/{reference}.txt",
                actual=text,
            )


def _is_text(view: View, path: str, reference: str, *, general: bool) -> bool:
    entry = view.evidence.entries.get(path)
    name = posixpath.basename(path)
    named = name.rpartition(".")[0] == reference or name == reference
    # A model's repository calls its own licence LICENSE; that of a dependency must say whose it is.
    named = named or (general and name.lower().startswith(_TEXTS))
    return entry is not None and named and entry.size > 0 and entry.textual
