"""What a parser or a schema finds wrong inside one file, before it is known which file that is."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from calaudit.errors import Malformed
from calaudit.evidence.nouns import SchemaFault
from calaudit.evidence.numbers import shorten

FAULTS_LIMIT: Final = 100
"""How many faults of one file are listed; the rest is counted in one more."""

FAULTS_KEPT: Final = 1000
"""After how many faults a parser stops looking: what follows would only take time and memory."""

MALFORMED: Final = "document-malformed"
INVALID: Final = "schema-invalid"
UNKNOWN: Final = "schema-unknown"
CONTROL: Final = "control-character"
ESCAPE: Final = "path-escape"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong at a place in a file, in the words of the rule that reports it.

    ``harmless`` faults are reported and leave the file usable as evidence; all others make it unusable.
    """

    rule: str
    message: str
    line: int | None = None
    pointer: str | None = None
    expected: str | None = None
    actual: str | None = None
    harmless: bool = False


def malformed(error: Malformed, *, line: int | None = None) -> Fault:
    """A parser's refusal as a fault; ``line`` stands in for the parser's own."""
    where = f" (column {error.column})" if error.column is not None else ""
    text = error.message.removesuffix(".")
    return Fault(MALFORMED, f"{text}{where}.", line=error.line if line is None else line, pointer=error.pointer)


def schema_faults(errors: Iterable[SchemaFault]) -> Iterator[Fault]:
    """What a schema finds wrong in a value that does not follow it: at least one fault."""
    none = True
    for error in islice(errors, FAULTS_LIMIT + 1):
        none = False
        yield Fault(INVALID, f"{shorten(error.message, 300).removesuffix('.')}.", pointer=error.pointer)
    if none:
        yield Fault(INVALID, "The value does not follow its schema.", pointer="")


def limited(faults: Iterable[Fault], more: int = 0) -> Iterator[Fault]:
    """The first faults of each rule, and one that counts the others.

    ``more`` is how many were found and not kept; they are counted with the first rule.
    """
    listed: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    for fault in faults:
        if listed[fault.rule] < FAULTS_LIMIT:
            listed[fault.rule] += 1
            yield fault
        else:
            hidden[fault.rule] += 1
    if more:
        hidden[next(iter(listed), INVALID)] += more
    for rule, count in hidden.items():
        yield Fault(rule, f"… and {count} more of this kind in this file.")
