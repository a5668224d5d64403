"""Globs over port-relative POSIX paths.

``*`` and ``?`` stay inside one segment; ``**`` as a whole segment is any number of segments, at the end at least one.
Everything else stands for itself: brackets and braces too. (``fnmatch`` lets ``*`` cross ``/``; ``PurePath.full_match``
needs Python 3.13.)
"""

import re
from dataclasses import dataclass
from functools import cache, cached_property

_WILD = {"*": "[^/]*", "?": "[^/]"}
_ANY = "**"


@dataclass(frozen=True)
class Glob:
    """One compiled pattern."""

    pattern: str

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        segments = self.pattern.split("/")
        out = ""
        for index, segment in enumerate(segments):
            last = index == len(segments) - 1
            if segment == _ANY:
                out += ".+" if last else "(?:[^/]+/)*"
            else:
                out += "".join(_WILD.get(c) or re.escape(c) for c in segment) + ("" if last else "/")
        return re.compile(out, re.DOTALL)

    @cached_property
    def _start(self) -> str:
        """What every path that fits begins with: most paths are ruled out by it."""
        return re.split(r"[*?]", self.pattern, maxsplit=1)[0]

    def matches(self, path: str) -> bool:
        """Whether the whole path fits the pattern."""
        return path.startswith(self._start) and self._regex.fullmatch(path) is not None

    def overlaps(self, other: "Glob") -> bool:
        """Whether some path fits both patterns."""
        return _paths_overlap(tuple(self.pattern.split("/")), tuple(other.pattern.split("/")))

    def example(self) -> str:
        """A path that fits the pattern, with ``x`` for every wildcard."""
        return "/".join(re.sub(r"\*+|\?", "x", segment) for segment in self.pattern.split("/"))


@cache
def _paths_overlap(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    if not left or not right:
        return not left and not right
    if left[0] != _ANY and right[0] != _ANY:
        return _segments_overlap(left[0], right[0]) and _paths_overlap(left[1:], right[1:])
    if left[0] != _ANY:
        left, right = right, left
    if len(left) == 1:  # a `**` at the end: one segment or more, whatever they are called
        return True
    # No segment for the `**`, or the other side's first segment (where that is a `**` too: any of its segments).
    return _paths_overlap(left[1:], right) or _paths_overlap(left, right[1:])


@cache
def _segments_overlap(left: str, right: str) -> bool:
    if not left or not right:
        return not (left + right).strip("*")
    if left[0] == "*":
        return _segments_overlap(left[1:], right) or _segments_overlap(left, right[1:])
    if right[0] == "*":
        return _segments_overlap(right, left)
    same = left[0] == right[0] or "?" in (left[0], right[0])
    return same and _segments_overlap(left[1:], right[1:])
