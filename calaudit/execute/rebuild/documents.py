"""Comparing JSON documents and JSON lines, value by value."""

import re
from collections import Counter

import orjson

from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.rebuild.collector import Collector, first_difference
from calaudit.execute.rebuild.nouns import Kind
from calaudit.model import Json
from calaudit.pointers import escape

__all__ = ["compare_json", "compare_lines"]

_LINES = 200_000
_FORM_MAX = 32 << 20
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null')


def compare_json(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes, offset: int) -> None:
    """Compare two documents; the places are JSON pointers.

    Raises:
        Malformed: one is no JSON.
    """
    start = len(collector.changes)
    compare_values(collector, members, "", _parse(old), _parse(new), offset)
    _form(collector, members, "", old, new, start)


def compare_lines(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes, offset: int) -> None:
    """Compare JSON lines; the first part of a pointer is the number of the record, from 0.

    Raises:
        Malformed: a line that differs is no JSON, or there are too many.
    """
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _LINES:
        raise Malformed("There are too many lines.")
    if len(before) == len(after) and Counter(before) == Counter(after):
        _order(collector, members, "", before, after, offset)
        return
    for number, (a, b) in enumerate(zip(before, after, strict=False)):
        if a != b and not collector.full:
            start = len(collector.changes)
            compare_values(collector, members, f"/{number}", _parse(a), _parse(b), offset)
            _form(collector, members, f"/{number}", a, b, start)
    _rest(collector, members, "", before, after, offset)


def compare_values(  # noqa: PLR0913, PLR0917 - the two sides and where they are
    collector: Collector, members: tuple[str, ...], pointer: str, old: Json, new: Json, offset: int | None
) -> None:
    """Compare two parsed values, without recursion."""
    stack: list[tuple[str, Json, Json]] = [(pointer, old, new)]
    while stack and not collector.full:
        at, a, b = stack.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            shared = [key for key in a if key in b]
            if shared != [key for key in b if key in a]:
                collector.add(members, at, Kind.ORDER, _keys(a), _keys(b), offset=offset)
            for key in sorted(set(a) ^ set(b)):
                sides = (_dump(side[key]) if key in side else None for side in (a, b))
                collector.add(members, f"{at}/{escape(key)}", Kind.PRESENCE, *sides, offset=offset)
            stack += [(f"{at}/{escape(key)}", a[key], b[key]) for key in reversed(shared)]
        elif isinstance(a, list) and isinstance(b, list):
            if a == b and _is_flat(a) and _dump(a) == _dump(b):
                continue
            before, after = [_dump(item) for item in a], [_dump(item) for item in b]
            if before != after and Counter(before) == Counter(after):
                _order(collector, members, at, before, after, offset)
                continue
            _rest(collector, members, at, before, after, offset)
            differ = [n for n in range(min(len(a), len(b))) if before[n] != after[n]]
            stack += [(f"{at}/{n}", a[n], b[n]) for n in reversed(differ)]
        elif type(a) is not type(b) or a != b:
            collector.add(members, at, Kind.VALUE, _dump(a), _dump(b), offset=offset)
    if stack:
        collector.complete = False


def _form(  # noqa: PLR0913, PLR0917 - as above
    collector: Collector, members: tuple[str, ...], at: str, old: bytes, new: bytes, start: int
) -> None:
    """Note it when more differs than the values that were found: blanks, escapes, the form of numbers.

    Where members are missing or stand in another order, that is not looked for: such documents differ enough.
    """
    kinds = {change.kind for change in collector.changes[start:]}
    if not kinds <= {Kind.VALUE}:
        return
    if len(old) > _FORM_MAX:
        collector.complete = False  # it is not looked for, so nobody may say that nothing else differs
        return
    rests = [_TOKEN.sub(b"@", side) for side in (old, new)]
    pairs = zip(_TOKEN.finditer(old), _TOKEN.finditer(new), strict=False)
    if rests[0] == rests[1] and sum(a[0] != b[0] for a, b in pairs) == len(collector.changes) - start:
        return
    offset = first_difference(old, new)
    excerpts = (side[offset : offset + 64] for side in (old, new))
    collector.add(members, f"{at} (form)".lstrip(), Kind.FORM, *excerpts, offset=offset, whole=False)


def _parse(data: bytes) -> Json:
    return parse_json(data, foreign=True)


def _dump(value: Json) -> bytes:
    return value.encode() if isinstance(value, str) else orjson.dumps(value)


def _keys(value: dict[str, Json]) -> bytes:
    return orjson.dumps(list(value))


def _is_flat(items: list[Json]) -> bool:
    return not any(isinstance(item, dict | list) for item in items)


def _order(  # noqa: PLR0913, PLR0917 - as above
    collector: Collector, members: tuple[str, ...], at: str, old: list[bytes], new: list[bytes], offset: int | None
) -> None:
    first = next(n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
    collector.add(members, f"{at}/{first}", Kind.ORDER, old[first], new[first], offset=offset)


def _rest(  # noqa: PLR0913, PLR0917 - as above
    collector: Collector, members: tuple[str, ...], at: str, old: list[bytes], new: list[bytes], offset: int | None
) -> None:
    """What only the longer list has."""
    common = min(len(old), len(new))
    if len(old) != len(new):
        a, b = (b" ".join(side[common : common + 4]) if len(side) > common else None for side in (old, new))
        collector.add(members, f"{at}/{common}", Kind.PRESENCE, a, b, offset=offset)
