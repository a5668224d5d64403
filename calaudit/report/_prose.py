"""Text in Markdown that shows as it is, whoever wrote it."""

import re

from calaudit.report._escape import visible

__all__ = ["prose", "span", "told"]

_ACTIVE = re.compile(r"[\\`*_\[\]~$]|^[-+#=]|(?<=:)//|(?<=www)\.", re.ASCII | re.IGNORECASE)
_CODE = re.compile(r"`([^`]+)`")
_ORDERED = re.compile(r"^\d+(?=[.)])", re.ASCII)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}


def prose(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no links, one line."""
    escaped = _ORDERED.sub(r"\g<0>\\", _ACTIVE.sub(r"\\\g<0>", visible(text)))
    shown = "".join(_ENTITIES.get(c, c) for c in escaped)
    # A space in front would indent, and four of them make a block of code.
    return f"&#32;{shown[1:]}" if shown.startswith(" ") else shown


def told(text: str) -> str:
    """A sentence: as prose, with what stands between backticks as code.

    The sentences are ours, with names of the port in them; where a name has backticks of its own, it is exact in its
    place.
    """
    pieces = _CODE.split(text)
    return "".join(span(piece) if n % 2 else _inner(piece, first=n == 0) for n, piece in enumerate(pieces))


def span(text: str) -> str:
    """A code span, also inside a table, whatever backticks or bars the text has."""
    # HTML's own element: a fence of backticks protects neither a bar in a table cell nor a backtick at an edge.
    return f"<code>{prose(text)}</code>"


def _inner(piece: str, *, first: bool) -> str:
    # Behind a code span nothing can begin a block, and a space is only a space.
    return prose(piece) if first or not piece.startswith(" ") else f" {prose(piece[1:])}"
