"""A page of terminal text: wrapped at its width, painted or not, harmless whatever it is given."""

from collections.abc import Sequence

from calaudit.model import Kind, Level, Verdict
from calaudit.report._escape import inert, visible
from calaudit.report._layout import WIDTH, cells, wrap

__all__ = ["Page", "kind_style", "symbol", "verdict_style"]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}


_ASCII = str.maketrans(
    {"✓": "+", "✗": "x", "⊘": "o", "–": "-", "—": "-", "─": "-", "·": "-", "…": "...", "×": "x", "→": "->"}  # noqa: RUF001
    | {"“": '"', "”": '"', "‘": "'", "’": "'", "≤": "<=", "≥": ">=", "≠": "!="}  # noqa: RUF001
)
"""What stands for a mark where the reader's encoding has none."""


class Page:
    """Lines of text. Every string is untrusted: it is escaped here, and only here."""

    def __init__(self, *, colour: bool, width: int = WIDTH, ascii_only: bool = False) -> None:
        """``colour`` paints styles as ANSI escapes; without it styles mean nothing. ``width`` is in columns.

        ``ascii_only`` writes marks and punctuation in ASCII; places and values stay exact.
        """
        self._colour = colour
        self._ascii = ascii_only
        self._width = width
        self._lines: list[str] = []

    def blank(self) -> None:
        """An empty line, but never two and never at the start."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def rule(self) -> None:
        """A line across the page."""
        self._lines.append(self._paint(self._marks("─") * self._width, "dim"))

    def spread(self, left: str, right: str, *, left_style: str = "bold", right_style: str = "") -> None:
        """Two texts at the two edges; the right one on a line of its own where both do not fit."""
        left, right = visible(self._marks(left)), visible(self._marks(right))
        if cells(left) + 2 + cells(right) > self._width:
            self.para(left, style=left_style)
            left = ""
        gap = " " * max(self._width - cells(left) - cells(right), 0)
        self._lines.append(inert(f"{self._paint(left, left_style)}{gap}{self._paint(right, right_style)}"))

    def para(  # noqa: PLR0913 - one parameter a property of a paragraph
        self,
        text: str,
        *,
        indent: int = 0,
        lead: str = "",
        style: str = "",
        lead_style: str = "dim",
        exact: bool = False,
    ) -> None:
        """A wrapped paragraph; its lines begin below the end of ``lead``, which stands before the first.

        ``exact`` text is a value of the port, of which no character may become another.
        """
        lead = self._marks(lead)
        text = text if exact else self._marks(text)
        hang = indent + cells(lead)
        # Spaces that must not break have done their work once the lines are made.
        for n, line in enumerate(line.replace("\u00a0", " ") for line in wrap(visible(text), self._width - hang)):
            start = " " * indent + self._paint(lead, lead_style) if n == 0 else " " * hang
            # Without colour the start is white space or our own words, so the whole line is checked.
            self._lines.append(inert(f"{start}{self._paint(line, style)}".rstrip()))

    def columns(self, widths: Sequence[int], words: Sequence[str], styles: Sequence[str]) -> None:
        """One row of a table: each word wrapped in its column, two spaces between columns."""
        wrapped = [wrap(visible(self._marks(word)), width) for word, width in zip(words, widths, strict=True)]
        for n in range(max(map(len, wrapped))):
            line = ""
            for cell, width, style in zip(wrapped, widths, styles, strict=True):
                text = cell[n].replace("\u00a0", " ") if n < len(cell) else ""
                line += self._paint(text, style) + " " * (width - cells(text) + 2)
            self._lines.append(inert(line.rstrip()))

    def whole(self, text: str, *, indent: int, style: str = "") -> None:
        """One line that is never broken, for a path that a reader copies."""
        self._lines.append(inert(" " * indent + self._paint(visible(text), style)))

    def text(self) -> str:
        """The page, ending with a line feed."""
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def _marks(self, text: str) -> str:
        return text.translate(_ASCII) if self._ascii else text

    def _paint(self, text: str, style: str) -> str:
        if not self._colour or not style or not text:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in style.split())}m{text}\x1b[0m"


def symbol(kind: Kind, level: Level) -> str:
    """One character for how a rule ended."""
    if kind is Kind.PASS:
        return "✓"
    if kind is Kind.NOT_APPLICABLE:
        return "–"  # noqa: RUF001 - a dash, as in a table of results
    if kind is Kind.OPEN:
        return "?"
    return {Level.ERROR: "✗", Level.WARNING: "!", Level.NOTE: "i"}[level]


def kind_style(kind: Kind, level: Level) -> str:
    """The colour of that character."""
    if kind in (Kind.PASS, Kind.NOT_APPLICABLE):
        return "green" if kind is Kind.PASS else "dim"
    if level is not Level.ERROR:
        return "cyan"
    return "red" if kind is Kind.FAIL else "yellow"


def verdict_style(verdict: Verdict) -> str:
    """The colour of a verdict."""
    return {
        Verdict.PASSED: "bold green",
        Verdict.FAILED: "bold red",
        Verdict.BLOCKED_REPRODUCIBILITY: "bold magenta",
        Verdict.BLOCKED_COMPILER: "bold magenta",
        Verdict.INCOMPLETE: "bold yellow",
        Verdict.NOT_STARTED: "dim",
    }[verdict]
