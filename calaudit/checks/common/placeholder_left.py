"""No placeholder is left.

Why: A template's REQUIRED, TBD or zero looks like an answer to a program, but nobody has decided anything.
Fix: Write the real value at the place that the finding names; whoever answers for the gate decides it.
"""

from collections.abc import Iterator

import orjson

from calaudit.checks import View, check
from calaudit.evidence import Entry
from calaudit.facts.placeholders import left_in
from calaudit.model import Format, Location, Result

_QUICK = 4 << 20
"""Bytes of a file whose text is looked through first: what is longer is read once, not twice."""


@check("placeholder-left", gate="*", kinds=("pass", "fail", "notApplicable"))
def placeholder_left(view: View) -> Iterator[Result]:
    """Look at every value of every document that the contract describes."""
    placeholders = view.facts.contract.gates.placeholders
    for entry in view.entries():
        if entry.spec is None or entry.spec.schema is None:
            continue
        is_quiet = _is_quiet(view, entry)  # most records hold nothing but numbers
        for line, document in view.each(view.evidence.parsed(entry.path)):
            if is_quiet or not placeholders.may_be_in(orjson.dumps(document)):
                continue
            of_record = line if entry.spec.format is Format.JSONL else None
            for pointer, value in left_in(document, placeholders, entry.spec):
                at = Location(path=entry.path, pointer=pointer, line=of_record)
                yield view.fail("A placeholder was never filled in.", at=at, actual=repr(value))
    if view.examined == 0:
        yield view.not_applicable("There is no document here.")


def _is_quiet(view: View, entry: Entry) -> bool:
    """Whether the text of JSON surely holds no placeholder."""
    if entry.spec is None or entry.spec.format not in (Format.JSON, Format.JSONL) or entry.size > _QUICK:
        return False
    return not view.facts.contract.gates.placeholders.may_be_written_in(view.evidence.read(entry.path))
