"""What a gate used is what the gates before it made.

Why: A report about another model, another prompt corpus or another tokenizer says nothing about this one. Whatever was
made from a file that has changed since is stale.
Fix: Run the step again that wrote the document, and after it every step that depends on it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._changed import because
from calaudit.errors import MissingFact
from calaudit.model import ArtifactSpec, Location, Result
from calaudit.pointers import resolve


@check("chain-broken", gate="*", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def chain_broken(view: View) -> Iterator[Result]:
    """Compare every digest by which a document names its inputs with the file that is there now."""
    specs = view.spec.artifacts if view.spec else view.facts.contract.gates.port
    bound = [s for s in specs if s.binds and (s.required or view.evidence.matching(s.pattern))]
    if not bound:
        yield view.not_applicable("No document here names its inputs by digest.")
    for spec in bound:
        try:
            yield from _follow(view, spec)
        except MissingFact as missing:
            yield view.open(missing.message, at=missing.at)


def _follow(view: View, spec: ArtifactSpec) -> Iterator[Result]:
    document = view.evidence.document(spec.pattern)
    for pointer, path in view.each(spec.binds.items()):
        at = Location(path=spec.pattern, pointer=pointer)
        entry = view.evidence.entries.get(path)
        try:
            claimed = resolve(document, pointer)
        except KeyError:
            yield view.open(f"The digest of {path} is not recorded.", at=at)
            continue
        if entry is None:
            yield view.open(f"{path}, which this document was made from, is missing.", at=at)
        elif claimed != entry.sha256:
            yield view.fail(
                f"This document was made from another {path}{because(view, entry, claimed, 'what is there now')}.",
                at=at,
                expected=f"sha256 {entry.sha256}",
                actual=f"sha256 {claimed}",
            )
