"""No placeholder is left.

Why: A template's REQUIRED, TBD or zero looks like an answer to a program, but nobody has decided anything.
Fix: Replace it by the real value.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.contract.gates import Placeholders
from calaudit.model import ArtifactSpec, Format, Json, Location, Result
from calaudit.pointers import fits, leaves


@check("placeholder-left", gate="*", kinds=("pass", "fail", "notApplicable"))
def placeholder_left(view: View) -> Iterator[Result]:
    """Look at every value of every document that the contract describes."""
    placeholders = view.facts.contract.gates.placeholders
    for entry in view.entries():
        if entry.spec is None or entry.spec.schema is None:
            continue
        for line, document in view.each(view.evidence.parsed(entry.path)):
            if not _may_hold_one(document, placeholders):
                continue
            of_record = line if entry.spec.format is Format.JSONL else None
            for pointer, value in _left(document, placeholders, entry.spec):
                at = Location(path=entry.path, pointer=pointer, line=of_record)
                yield view.fail("A placeholder was never filled in.", at=at, expected="a real value", actual=repr(value))
    if view.examined == 0:
        yield view.not_applicable("There is no document here.")


def _left(document: Json, placeholders: Placeholders, spec: ArtifactSpec) -> Iterator[tuple[str, Json]]:
    for pointer, value in leaves(document):
        if isinstance(value, str):
            if placeholders.is_placeholder(value) and not fits(pointer, spec.free_text):
                yield pointer, value
        elif _is_zero(pointer.rpartition("/")[2], value, placeholders):
            yield pointer, value


def _may_hold_one(document: Json, placeholders: Placeholders) -> bool:
    """The same question without pointers: most documents hold nothing but numbers and have a short answer."""
    stack: list[Json] = [document]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if placeholders.is_placeholder(item):
                return True
        elif isinstance(item, dict):
            if any(_is_zero(key, value, placeholders) for key, value in item.items()):
                return True
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(value for value in item if isinstance(value, str | dict | list))
    return False


def _is_zero(member: str, value: Json, placeholders: Placeholders) -> bool:
    return member in placeholders.zero and value == 0 and not isinstance(value, bool)
