"""Placeholders: values that say "not filled in yet", and how to see quickly that a text holds none."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Placeholders"]

_NOTES = ("FIXME", "TBD", "TODO", "XXX", "fixme", "tbd", "todo")
"""Words that leave a note behind them of what is to be filled in."""
_BRACKETS = ("${", "{{", "<")
_TEMPLATE = re.compile(
    r"\$\{[^{}]*\}|\{\{[^{}]*\}\}|<(?:fill in|fixme|enter|insert|replace|required|tbd|todo|your)\b[^<>]*>",
    re.IGNORECASE,
)
"""A value that a template or its reader was to put in. Other words in angle brackets may be tokens of a model."""


@dataclass(frozen=True)
class Placeholders:
    """Values that say "not filled in yet": whole words, and members that must not be zero."""

    words: frozenset[str]
    zero: frozenset[str]

    def is_placeholder(self, value: object) -> bool:
        """Whether a value stands for one that somebody still has to fill in."""
        if not isinstance(value, str) or not value:
            return False  # an empty text can be an answer (ONNX's default domain); schemas say where it cannot
        if not value.isascii():
            value = "".join(c for c in value if unicodedata.category(c) != "Cf")
        word = value.strip()
        if not word or word in self.words or word.startswith("REQUIRED:") or _TEMPLATE.fullmatch(word):
            return True
        first = re.split(r"[\s:,;(\[-]", word, maxsplit=1)[0]
        return first in _NOTES and first in self.words

    def may_be_in(self, text: bytes) -> bool:
        """Whether compact JSON may hold a placeholder or a wrong zero: quick, and wrong only by saying yes."""
        return not text.isascii() or self._sign.search(text) is not None

    def may_be_written_in(self, text: bytes) -> bool:
        """The same of JSON as somebody wrote it, with blanks and escapes and numbers that are rounded to zero."""
        return b"\\" in text or self.may_be_in(text) or self._written_zero.search(text) is not None

    @cached_property
    def _sign(self) -> re.Pattern[bytes]:
        """How a text begins that is blank, begins with a blank or an escape, or with a word; or a member that is zero.

        The first characters stand before the alternatives: most texts begin with another, and are passed by at once.
        """
        begins = (" ", "\\", "REQUIRED:", *_BRACKETS, *sorted(self.words))
        zeros = (f'{name}":{zero}' for name in sorted(self.zero) for zero in ("0", "-0"))
        signs = [sign.encode() for sign in (*begins, *zeros)]
        first = b"".join(re.escape(byte) for byte in sorted({sign[:1] for sign in signs}))
        return re.compile(b'"(?=[%b])(?:%b)' % (first, b"|".join(map(re.escape, signs))))

    @cached_property
    def _written_zero(self) -> re.Pattern[bytes]:
        """How a member that must not be zero begins where it may be: with a zero, or with a negative exponent."""
        names = b"|".join(re.escape(name.encode()) for name in sorted(self.zero))
        return re.compile(rb'"(?:%b)"\s*:\s*-?(?:0|[0-9.]+[eE]-)' % names)
