"""Lines that fit a terminal: what is too long goes on below, set in."""

from calaudit.report._escape import visible
from calaudit.report._layout import wrap

__all__ = ["hanging"]


def hanging(line: str, width: int, *, hang: int = 2) -> list[str]:
    """A line in lines of at most ``width`` columns; those after the first begin ``hang`` columns farther right.

    Everything in it is made visible first, so that the columns are those that are written.
    """
    body = visible(line).lstrip(" ")
    indent = len(visible(line)) - len(body)
    first, *rest = wrap(body, width - indent)
    if rest:
        # The first line has more room than those after it.
        rest = wrap(body[len(first) :].lstrip(" "), width - indent - hang)
    return [" " * indent + first, *(" " * (indent + hang) + text for text in rest)]
