"""What kind of difference a change is, from what stands in the two places and from which builds show it.

What stands there comes first: a value that is the time of each build's run is a time, whatever made it show. Only where
nothing is recognized does the factor decide, and then nothing says that the factor accounts for all of it.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from calaudit.execute.rebuild.nouns import Build, Cause, Change, Class, Factor, Finding, Kind
from calaudit.execute.rebuild.plain import printable
from calaudit.execute.rebuild.remedies import CLASS_OF, CLASS_REMEDY, DEPENDS_ON, REMEDY
from calaudit.execute.rebuild.tokens import Token, masked, number_labels

__all__ = ["classify"]

_WORD = re.compile(r"[^\s,;:{}()\[\]\"'<>=]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
_RANK = (Class.PATH, Class.HOST, Class.RANDOMNESS, Class.ADDRESS, Class.TIMESTAMP)
"""The worst first: a value that holds a path and a time is not one that the contract tolerates."""


def classify(change: Change, old: Build, new: Build, cause: Cause, factors: Sequence[Factor]) -> Finding:
    """The class of a change and why; ``factors`` are those that make it show alone."""
    return (
        _by_format(change, factors)
        or _by_order(change, factors)
        or _by_text(change, old, new)
        or _by_number(change, old, new)
        or _by_cause(change, cause, factors)
    )


def _by_format(change: Change, factors: Sequence[Factor]) -> Finding | None:
    """What the format says about a field."""
    if change.kind is Kind.TIME:
        said = f"The {change.place} of a member is written into the archive: {_both(change)}."
        return _finding(Class.TIMESTAMP, said, "Set the times of members to a fixed one, such as SOURCE_DATE_EPOCH.")
    if change.kind is Kind.OWNER:
        said = f"The {change.place} of a member is that of whoever built the archive: {_both(change)}."
        remedy = REMEDY[factors[0] if factors and factors[0] in CLASS_OF else Factor.USER]
        if change.place == "mode":
            remedy = REMEDY[Factor.UMASK]
        return _finding(Class.HOST, said, remedy)
    return None


def _by_order(change: Change, factors: Sequence[Factor]) -> Finding | None:
    """The same things in another order."""
    same = change.kind is Kind.ORDER
    if not same and change.text and change.whole and change.old and change.new:
        words = [_WORD.findall(side.decode("utf-8", "replace")) for side in (change.old, change.new)]
        same = words[0] != words[1] and sorted(words[0]) == sorted(words[1])
    if not same:
        return None
    why = f"; it {DEPENDS_ON[factors[0]]}" if factors else ""
    remedy = REMEDY[factors[0]] if factors and CLASS_OF[factors[0]] is Class.ORDER else CLASS_REMEDY[Class.ORDER]
    return _finding(Class.ORDER, f"The same things stand in another order, from here on: {_both(change)}{why}.", remedy)


def _by_text(change: Change, old: Build, new: Build) -> Finding | None:
    """Two texts that are equal but for what is each build's own."""
    if not change.text or change.old is None or change.new is None:
        return None
    sides = [
        masked(side.decode("utf-8", "replace"), build.traits) for side, build in ((change.old, old), (change.new, new))
    ]
    if sides[0][0] != sides[1][0] or len(sides[0][1]) != len(sides[1][1]):
        return _by_uuid(change)
    pairs = [(a, b) for a, b in zip(sides[0][1], sides[1][1], strict=True) if a.text != b.text]
    if not pairs:
        return None
    label = min((a.label for a, _ in pairs), key=_RANK.index)
    first = next((a, b) for a, b in pairs if a.label is label)
    return _finding(label, _token_says(first, old, new), CLASS_REMEDY[label], bounded=change.whole)


def _token_says(pair: tuple[Token, Token], old: Build, new: Build) -> str:
    a, b = (printable(token.text.encode()) for token in pair)
    between = f"{a} in {_name(old)}, {b} in {_name(new)}"
    return {
        "path": f"The folder of the build is written into the product: {between}.",
        "invocation": f"The id of the run (CALAUDIT_INVOCATION) is written into the product: {between}.",
        "hostname": f"The name of the machine is written into the product: {between}.",
        "time": f"The time of the build is written into the product: {between}.",
        "address": f"An address in memory is written into the product: {between}.",
    }[pair[0].what]


def _by_uuid(change: Change) -> Finding | None:
    texts = [side.decode("utf-8", "replace") for side in (change.old or b"", change.new or b"")]
    if all(map(_UUID.search, texts)) and _UUID.sub("", texts[0]) == _UUID.sub("", texts[1]):
        return _finding(Class.RANDOMNESS, f"A random UUID is written into the product: {_both(change)}.")
    return None


def _by_number(change: Change, old: Build, new: Build) -> Finding | None:
    """Bytes that are, as a number, the time of each run, or an address in each."""
    if change.text or change.old is None or change.new is None or len(change.old) != len(change.new):
        return None
    differ = [n for n, (a, b) in enumerate(zip(change.old, change.new, strict=True)) if a != b]
    if not differ or not change.whole or any(b - a > 8 for a, b in pairwise(differ)):
        return None
    start, end = differ[0], differ[-1] + 1
    a, b = (number_labels(s, t.traits, start, end) for s, t in ((change.old, old), (change.new, new)))
    for label, what in ((Class.TIMESTAMP, "The time of the build"), (Class.ADDRESS, "An address in memory")):
        if label in a and a[label] == b.get(label):
            return _finding(label, f"{what} is written into the product, as a number of {a[label]} bytes.")
    return None


def _by_cause(change: Change, cause: Cause, factors: Sequence[Factor]) -> Finding:
    """What is left: nothing in the two places is recognized."""
    if change.kind is Kind.FORM:
        what = "What is in it is the same, but it is written in another way"
    elif change.kind is Kind.PRESENCE:
        what = f"It is there in one build only: {_both(change)}"
    else:
        what = f"It differs: {_both(change)}"
    if cause is Cause.CHANCE:
        label = Class.RANDOMNESS
        said = (
            f"{what}. Two builds in the same conditions differ here, so chance is in it: a random number, a race, or "
            "memory that was not set."
        )
    elif factors:
        label = CLASS_OF[factors[0]]
        said = f"{what}. It {' and '.join(DEPENDS_ON[factor] for factor in factors)}."
        return Finding(label=label, bounded=False, explanation=said, remedy=REMEDY[factors[0]])
    elif cause is Cause.PUBLISHED:
        label = Class.UNDECLARED
        said = f"{what}. Every build here agrees; only what the port holds is another."
        remedy = "Find out who built what the port holds, and from what; or run the step anew and publish that."
        return Finding(label=label, bounded=False, explanation=said, remedy=remedy)
    else:
        label = Class.UNDECLARED
        said = (
            f"{what}. It shows when all conditions change, but no single one of them shows it, and nothing in it is "
            "recognized."
        )
    return Finding(label=label, bounded=False, explanation=said, remedy=CLASS_REMEDY[label])


def _finding(label: Class, said: str, remedy: str | None = None, *, bounded: bool = True) -> Finding:
    settled = bounded and label is not Class.ORDER
    return Finding(label=label, bounded=settled, explanation=said, remedy=remedy or CLASS_REMEDY[label])


def _both(change: Change) -> str:
    sides = ("nothing" if side is None else printable(side, change.text) for side in (change.old, change.new))
    return " and ".join(sides)


def _name(build: Build) -> str:
    return "what the port holds" if build.number == 0 else f"build {build.number}"
