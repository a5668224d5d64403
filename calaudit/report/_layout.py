"""Fitting text into the columns of a terminal: what a character occupies, wrapping."""

import unicodedata
from collections.abc import Iterator

__all__ = ["WIDTH", "cells", "wrap"]

WIDTH = 80
"""Columns of a report that does not go to a terminal: in a file it is the same text whoever wrote it."""


def cells(text: str) -> int:
    """How many columns a text occupies: two for a wide character, none for a combining one."""
    return len(text) if text.isascii() else sum(_cell(c) for c in text)


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns, at least one line.

    Lines break at spaces, which vanish there; a word that fills more than a line is broken where the line ends. Nothing
    is left out.
    """
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cells(joined) <= width:
            lines[-1] = joined
            continue
        first, *rest = _pieces(word, width)
        if lines[-1]:
            lines.append(first)
        else:
            lines[-1] = first
        lines.extend(rest)
    return lines


def _pieces(word: str, width: int) -> Iterator[str]:
    """A long word in pieces, cut behind a separator where there is one in the second half of the piece."""
    piece, used = "", 0
    for character in word:
        size = _cell(character)
        if piece and used + size > width:
            cut = max(piece.rfind(separator) for separator in "/-_.,#") + 1
            cut = cut if cut > len(piece) // 2 else len(piece)
            yield piece[:cut]
            piece = piece[cut:]
            used = cells(piece)
        piece += character
        used += size
    yield piece


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
