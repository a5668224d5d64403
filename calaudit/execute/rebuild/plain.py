"""Comparing what has no structure: text by line, anything else by the ranges of bytes that differ."""

from collections import Counter
from collections.abc import Iterator

from calaudit.execute.rebuild.collector import EXCERPT, Collector, first_difference, utf8
from calaudit.execute.rebuild.nouns import Kind

__all__ = ["compare_bytes", "compare_text", "printable"]

_CHUNK = 1 << 12
_GAP = 8  # equal bytes between two ranges that count as one: the parts of one number, or of one word
_RANGES = 64
_AROUND = 256
_WORD = 4


def compare_text(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes) -> bool:
    """Compare line by line; false when the two are no text."""
    if not (utf8(old) and utf8(new)):
        return False
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    place = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = sum(map(len, before[:place]))
    offset = first_difference(old, new)
    if len(before) == len(after):
        if Counter(before) == Counter(after):
            collector.add(
                members, f"line {place + 1}", Kind.ORDER, before[place].rstrip(), after[place].rstrip(), offset=offset
            )
            return True
        for number in range(place, len(before)):
            a, b = before[number], after[number]
            if a != b:
                at = start + first_difference(a, b)
                collector.add(members, f"line {number + 1}", Kind.VALUE, a, b, offset=at)
                if collector.full:
                    collector.complete = False
                    return True
            start += len(a)
        return True
    end = 0
    while end < min(len(before), len(after)) - place and before[-1 - end] == after[-1 - end]:
        end += 1
    a, b = (b"".join(lines[place : len(lines) - end]) for lines in (before, after))
    collector.add(members, f"line {place + 1}", Kind.VALUE, a or None, b or None, offset=offset)
    return True


def compare_bytes(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes, place: str = "") -> None:
    """Compare byte by byte: each range that differs, or only the first one when the lengths differ."""
    if len(old) != len(new):
        offset = first_difference(old, new)
        a, b = (_word(side, offset, min(offset + 1, len(side))) for side in (old, new))
        text = a is not None and b is not None
        shown = (a, b) if text else tuple(side[offset : offset + 64] for side in (old, new))
        collector.add(members, place or "bytes", Kind.VALUE, shown[0], shown[1], offset=offset, whole=False, text=text)
        return
    for number, (start, end) in enumerate(_ranges(old, new)):
        if number == _RANGES:
            collector.complete = False
            return
        a, b = (_word(side, start, end) for side in (old, new))
        text = a is not None and b is not None
        if not text:
            a, b = (side[max(0, start - _GAP) : end + _GAP] for side in (old, new))
        at = f"{place} byte {start}" if place else f"byte {start}"
        collector.add(members, at, Kind.VALUE, a, b, offset=start, text=text)


def _ranges(old: bytes, new: bytes) -> Iterator[tuple[int, int]]:
    begin = last = -1
    for start in range(0, len(old), _CHUNK):
        if old[start : start + _CHUNK] == new[start : start + _CHUNK]:
            continue
        for at in range(start, min(start + _CHUNK, len(old))):
            if old[at] == new[at]:
                continue
            if begin >= 0 and (at - last > _GAP or at - begin > EXCERPT // 2):
                yield begin, last + 1
                begin = at
            elif begin < 0:
                begin = at
            last = at
    if begin >= 0:
        yield begin, last + 1


def _word(data: bytes, start: int, end: int) -> bytes | None:
    """The printable text around a range; None where it is not in one."""
    if end - start > EXCERPT // 2 or not all(map(_printable, data[start:end])):
        return None
    first, last = start, end
    while first > max(0, start - _AROUND) and _printable(data[first - 1]):
        first -= 1
    while last < min(len(data), end + _AROUND) and _printable(data[last]):
        last += 1
    return data[first:last] if last - first >= _WORD else None


def _printable(byte: int) -> bool:
    return 0x20 <= byte < 0x7F


def printable(data: bytes, text: bool = True) -> str:  # noqa: FBT001, FBT002 - reads well enough
    """Some bytes in a sentence, shortened."""
    if not text:
        return data[:16].hex(" ") + (" …" if len(data) > 16 else "")
    decoded = data.decode("utf-8", "backslashreplace").strip()
    shown = "".join(c if c.isprintable() else "·" for c in decoded)
    return f'"{shown}"' if len(shown) <= 100 else f'"{shown[:99]}…"'
