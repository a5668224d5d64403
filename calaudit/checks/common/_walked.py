"""What the rules about reading have in common: they report what the evidence station met."""

from collections.abc import Iterator

from calaudit.checks.view import View
from calaudit.model import Result


def report_problems(view: View) -> Iterator[Result]:
    """The evidence station's problems under this rule's id; every regular file of the gate counts as examined."""
    view.saw(len(view.entries()))
    found = False
    for result in view.problems():
        found = True
        yield result
    if not found and view.examined == 0:
        yield view.not_applicable("There is no file here.")
