"""What the rules about lists of digests have in common."""

from collections.abc import Iterator

from calaudit.checks.view import View
from calaudit.facts.digests import DigestList, Digests
from calaudit.model import Result


def lists_of(view: View) -> tuple[DigestList, ...]:
    """The gate's lists of digests that can be read."""
    return view.fact(Digests).of_gate(view.gate)


def unreadable_lists(view: View) -> Iterator[Result]:
    """An open result for each of the gate's lists that cannot be read."""
    for document in view.fact(Digests).unreadable:
        if view.facts.contract.gates.gate_of(document) == view.gate:
            yield view.open("The list of digests in this document cannot be read.", at=document)


def nothing_listed(view: View) -> Iterator[Result]:
    """Not applicable, for a gate none of whose documents holds a list."""
    if view.examined == 0 and not any(unreadable_lists(view)):
        yield view.not_applicable("There is no list of digests here.")
