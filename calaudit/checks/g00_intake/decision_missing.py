"""Somebody decided to start the port.

Why: Work that nobody ordered has nobody who stops it, and a port without a decision has no owner to answer for it.
Fix: Record the decision: go or no-go, the person or team that took it, the day, and the reason.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.facts.source.people import is_named
from calaudit.model import Result


@check("decision-missing", gate="G0", back_to="stop, or another model")
def decision_missing(view: View) -> Iterator[Result]:
    """The decision is go, taken by somebody with a name, for a reason."""
    decision = view.fact(SourceManifest).decision
    view.saw()
    if decision is None:
        yield view.fail("The manifest holds no decision.", at=at(""), expected="decision: go, by, date, reason")
        return
    if decision.go != "go":
        yield view.fail(f"The decision is {decision.go}: the port stops here.", at=at("/decision/go"), expected="go")
    if not is_named(decision.by):
        yield view.fail(
            "The decision is nobody's.",
            at=at("/decision/by"),
            expected="a named person or team",
            actual=repr(decision.by),
        )
    if not any(character.isalnum() for character in decision.reason):
        yield view.fail("The decision has no reason.", at=at("/decision/reason"), actual=repr(decision.reason))
