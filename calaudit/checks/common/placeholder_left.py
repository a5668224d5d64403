"""No placeholder is left.

Why: A template's REQUIRED, TBD or zero looks like an answer to a program, but nobody has decided anything.
Fix: Write the real value at the place that the finding names; whoever answers for the gate decides it.
"""

from collections.abc import Iterator

import orjson

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
            if not placeholders.may_be_in(orjson.dumps(document)):
                continue  # most records hold nothing but numbers
            of_record = line if entry.spec.format is Format.JSONL else None
            for pointer, value in _left(document, placeholders, entry.spec):
                at = Location(path=entry.path, pointer=pointer, line=of_record)
                yield view.fail("A placeholder was never filled in.", at=at, actual=repr(value))
    if view.examined == 0:
        yield view.not_applicable("There is no document here.")


def _left(document: Json, placeholders: Placeholders, spec: ArtifactSpec) -> Iterator[tuple[str, Json]]:
    for pointer, value in leaves(document, bare=False):
        if isinstance(value, str):
            if placeholders.is_placeholder(value) and not fits(pointer, spec.free_text):
                yield pointer, value
        elif _is_zero(pointer.rpartition("/")[2], value, placeholders):
            yield pointer, value


def _is_zero(member: str, value: Json, placeholders: Placeholders) -> bool:
    return member in placeholders.zero and value == 0 and not isinstance(value, bool)
