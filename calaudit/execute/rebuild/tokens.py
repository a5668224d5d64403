"""Recognizing a build's own conditions in what it wrote: times of its run, its paths, its host, addresses in memory.

A token counts only if it is the build's own: a date that does not lie in its run is no timestamp of it. Two texts that
are equal once all such tokens are taken out differ in nothing else.
"""

import re
import struct
from calendar import timegm
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from calaudit.execute.rebuild.nouns import Class, Traits

__all__ = ["Token", "masked", "number_labels"]

_ZONES = 15 * 3600  # the largest distance of a local time from UTC, and a bit
_SLACK = 2.0  # file systems and formats round to two seconds
_QUARTER = 900  # time zones differ by quarters of an hour
_DAY = 86400
_MONTHS = {
    name: n
    for n, name in enumerate(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1)
}
_MONTH = "|".join(_MONTHS)
_LOWEST_ADDRESS, _HIGHEST_ADDRESS = 1 << 32, 1 << 47
_MASK = "\0"

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "moment",
        re.compile(
            r"(?<!\d)(?P<y>\d{4})[-/.]?(?P<m>\d\d)[-/.]?(?P<d>\d\d)[T _-]?(?P<H>\d\d):?(?P<M>\d\d)(?::?(?P<S>\d\d))?"
            r"(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?(?![\d:])"
        ),
    ),
    (
        "moment",
        re.compile(
            rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? +)?(?P<b>{_MONTH})\w* +(?P<d>\d\d?),? +(?P<H>\d\d):(?P<M>\d\d):"
            r"(?P<S>\d\d)(?: [A-Z]{2,5}| [+-]\d{2,4})? +(?P<y>\d{4})(?!\d)"
        ),
    ),
    (
        "moment",
        re.compile(
            rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? +)?(?<!\d)(?P<d>\d\d?)[ /-](?P<b>{_MONTH})\w*[ /-](?P<y>\d{{4}})"
            r"[ :](?P<H>\d\d):(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,]\d{1,9})?)?(?: (?:[A-Z]{2,5}|[+-]\d{4}))?(?!\d)"
        ),
    ),
    ("date", re.compile(r"(?<!\d)(?P<y>\d{4})[-/.]?(?P<m>\d\d)[-/.]?(?P<d>\d\d)(?!\d)")),
    ("date", re.compile(rf"(?P<b>{_MONTH})\w* +(?P<d>\d\d?),? +(?P<y>\d{{4}})(?!\d)")),
    ("seconds", re.compile(r"(?<![\d.])(?P<e>\d{10})(?:\.\d{1,9})?(?![\d])")),
    ("thousandths", re.compile(r"(?<![\d.])(?P<e>\d{13}|\d{16}|\d{19})(?![\d.])")),
    ("clock", re.compile(r"(?<![\d:])(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d)(?:[.,]\d{1,9})?(?![\d:])")),
    ("address", re.compile(r"0x(?P<a>[0-9a-fA-F]{9,16})(?![0-9a-fA-F])")),
)


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of text that is a build's own, and what it is."""

    label: Class
    text: str
    what: str


def masked(text: str, traits: Traits) -> tuple[str, list[Token]]:
    """A text with its tokens taken out, and the tokens in the order of the text."""
    taken: list[tuple[int, int, Token]] = []
    for start, end, token in _candidates(text, traits):
        if all(end <= other_start or start >= other_end for other_start, other_end, _ in taken):
            taken.append((start, end, token))
    taken.sort(key=lambda item: item[0])
    parts, at = [], 0
    for start, end, token in taken:
        parts += [text[at:start], f"{_MASK}{token.label}{_MASK}"]
        at = end
    return "".join([*parts, text[at:]]), [token for _, _, token in taken]


def _candidates(text: str, traits: Traits) -> Iterator[tuple[int, int, Token]]:
    """What may be taken out, the surest first."""
    for word, label, what in _words(traits):
        # A host name is a word of its own, and a folder ends where a name ends.
        for match in re.finditer(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
            yield match.start(), match.end(), Token(label, word, what)
    for kind, form in _PATTERNS:
        for match in form.finditer(text):
            if kind == "address":
                if _LOWEST_ADDRESS <= int(match["a"], 16) < _HIGHEST_ADDRESS:
                    yield match.start(), match.end(), Token(Class.ADDRESS, match[0], "address")
            elif traits.window is not None and _FITS[kind](match, traits.window):
                yield match.start(), match.end(), Token(Class.TIMESTAMP, match[0], "time")


def _words(traits: Traits) -> Iterator[tuple[str, Class, str]]:
    for path in traits.paths:
        yield path, Class.PATH, "path"
    if traits.invocation is not None:
        yield traits.invocation, Class.RANDOMNESS, "invocation"
    if traits.hostname:
        yield traits.hostname, Class.HOST, "hostname"


Window = tuple[float, float]


def _moment(match: re.Match[str], window: Window) -> bool:
    found = _seconds(match)
    return found is not None and window[0] - _ZONES <= found <= window[1] + _ZONES


def _date(match: re.Match[str], window: Window) -> bool:
    found = _seconds(match)
    return found is not None and window[0] - _ZONES - _DAY <= found <= window[1] + _ZONES


def _epoch(match: re.Match[str], window: Window) -> bool:
    return window[0] - _SLACK <= int(match["e"]) <= window[1] + _SLACK


def _small(match: re.Match[str], window: Window) -> bool:
    digits = match["e"]
    found: float = int(digits) / 10 ** (len(digits) - 10)
    return window[0] - _SLACK <= found <= window[1] + _SLACK


def _clock(match: re.Match[str], window: Window) -> bool:
    """A time of day without a date, in any time zone."""
    hour, minute, second = (int(match[name]) for name in "HMS")
    if hour > 23 or minute > 59 or second > 60:
        return False
    length = window[1] - window[0] + 2 * _SLACK
    return (hour * 3600 + minute * 60 + second - (window[0] - _SLACK)) % _QUARTER <= length


_FITS: dict[str, Callable[[re.Match[str], Window], bool]] = {
    "moment": _moment,
    "date": _date,
    "seconds": _epoch,
    "thousandths": _small,
    "clock": _clock,
}


def _seconds(match: re.Match[str]) -> int | None:
    part = match.groupdict()
    month = _MONTHS[part["b"]] if part.get("b") else int(part["m"])
    year, day = int(part["y"]), int(part["d"])
    hour, minute, second = (int(part.get(name) or 0) for name in "HMS")
    if not (1970 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    return timegm((year, month, day, hour, minute, second))


def number_labels(data: bytes, traits: Traits, start: int, end: int) -> dict[Class, int]:
    """What numbers that cover ``data[start:end]`` may be, a time or an address, and how many bytes they take."""
    found: dict[Class, int] = {}
    for form, size, unit in _NUMBERS:
        for at in range(max(0, end - size), min(start, len(data) - size) + 1):
            value = struct.unpack_from(form, data, at)[0]
            window = traits.window
            if window is not None and window[0] - _SLACK <= value / unit <= window[1] + _SLACK:
                found.setdefault(Class.TIMESTAMP, size)
            if size == 8 and _LOWEST_ADDRESS <= value < _HIGHEST_ADDRESS and value >> 40 in _TOPS:
                found.setdefault(Class.ADDRESS, size)
    return found


_TOPS = (0x55, 0x56, 0x7E, 0x7F)
_NUMBERS = (
    ("<I", 4, 1),
    (">I", 4, 1),
    ("<q", 8, 1),
    (">q", 8, 1),
    ("<d", 8, 1),
    (">d", 8, 1),
    ("<q", 8, 10**3),
    ("<q", 8, 10**6),
    ("<q", 8, 10**9),
    (">q", 8, 10**9),
)
