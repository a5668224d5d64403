"""What the prompts really show, whatever their labels say: looked up in texts and tokens."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Self

from calaudit.facts import Facts
from calaudit.facts.tokens.retokenized import Retokenized, RetokenizedFact
from calaudit.facts.tokens.tokenizer import TokenizerFact

_REPETITION = re.compile(r"(.{1,64}?)\1{7,}", re.DOTALL)
"""Something that stands eight times in a row or more."""

_PUNCTUATION = frozenset("()[]{}<>=:;_.,'\"\\/*+-|&%!#@")
_STRUCTURE = frozenset("()[]{}=:;")

_NAMES = """
ADLAM ARABIC ARMENIAN BALINESE BATAK BENGALI BOPOMOFO BUGINESE CANADIAN CHAKMA CHAM CHEROKEE CJK COPTIC CYRILLIC
DEVANAGARI ETHIOPIC GEORGIAN GREEK GUJARATI GURMUKHI HANGUL HEBREW HIRAGANA JAVANESE KANNADA KATAKANA KHMER LAO
LATIN LEPCHA LIMBU LISU MALAYALAM MEETEI MIAO MONGOLIAN MYANMAR NEWA NKO ORIYA OSAGE RUNIC SAURASHTRA SINHALA
SUNDANESE SYLOTI SYRIAC TAGALOG TAMIL TELUGU THAANA THAI TIBETAN TIFINAGH VAI YI
"""
_SCRIPTS = frozenset(_NAMES.split())
"""How the Unicode names of letters begin that are written in a script; others name a dress or a use of letters."""


@dataclass(frozen=True, kw_only=True)
class CoverageFact:
    """How many legal prompts carry the label of a category and show it; lengths are left to rules."""

    name: ClassVar[str] = "coverage"

    shown: dict[str, int]
    scripts: tuple[str, ...]
    """The scripts of the letters in prompts that are labelled multilingual."""

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Look at every legal prompt; MissingFact where corpus or tokenizer is missing."""
        tokenizer = facts.get(TokenizerFact)
        shown: Counter[str] = Counter(dict.fromkeys(SHOWS, 0))
        scripts: set[str] = set()
        for sample in facts.get(RetokenizedFact).by_id.values():
            category = sample.prompt.category
            if not sample.prompt.legal or category not in SHOWS:
                continue
            shown[category] += SHOWS[category](sample, tokenizer)
            if category == "multilingual" and sample.text is not None:
                scripts |= scripts_of(sample.text)
        return cls(shown=dict(shown), scripts=tuple(sorted(scripts)))


def scripts_of(text: str) -> frozenset[str]:
    """The scripts of a text's letters, by the first word of their Unicode names (LATIN, CJK, CYRILLIC …).

    Letters in another dress count as what they are (full width), or not at all where they are signs of mathematics.
    """
    letters = {c for c in text if unicodedata.category(c).startswith("L") and not _is_sign(c)}
    plain = unicodedata.normalize("NFKC", "".join(letters))
    return frozenset(re.split("[ -]", unicodedata.name(c, ""), maxsplit=1)[0] for c in plain) & _SCRIPTS


def _is_sign(letter: str) -> bool:
    return letter == "\N{MICRO SIGN}" or unicodedata.decomposition(letter).startswith("<font>")


def is_shortest(sample: Retokenized, tokenizer: TokenizerFact) -> bool:
    """Whether no prompt could be shorter: nothing but what the tokenizer adds, or one single token."""
    return len(sample.prompt.token_ids) <= max(1, len(tokenizer.prefix) + len(tokenizer.suffix))


def has_special(sample: Retokenized, tokenizer: TokenizerFact) -> bool:
    """Whether the text itself holds a special token, besides those that are added to every text."""
    return not set(tokenizer.special.values()).isdisjoint(sample.bare)


def is_foreign(sample: Retokenized, _tokenizer: TokenizerFact) -> bool:
    """Whether the text has letters of a script other than Latin."""
    return bool(scripts_of(sample.text or "") - {"LATIN"})


def is_code(sample: Retokenized, _tokenizer: TokenizerFact) -> bool:
    """Whether the text is punctuated like code."""
    text = sample.text or ""
    dense = sum(c in _PUNCTUATION for c in text) >= max(3, len(text) // 20)
    return dense and sum(c in _STRUCTURE for c in text) >= 2


def is_numeric(sample: Retokenized, _tokenizer: TokenizerFact) -> bool:
    """Whether at least four digits are at least a third of the text."""
    text = "".join((sample.text or "").split())
    digits = sum(c.isdigit() for c in text)
    return digits >= max(4, len(text) / 3)


def is_repetitive(sample: Retokenized, _tokenizer: TokenizerFact) -> bool:
    """Whether at least half of the text is something that stands eight times or more in a row."""
    text = sample.text or ""
    repeated = sum(len(match[0]) for match in _REPETITION.finditer(text[:20000]))
    return repeated > 0 and 2 * repeated >= min(len(text), 20000)


Look = Callable[[Retokenized, TokenizerFact], bool]

SHOWS: Mapping[str, Look] = MappingProxyType(
    {
        "shortest": is_shortest,
        "special-tokens": has_special,
        "multilingual": is_foreign,
        "code": is_code,
        "numbers": is_numeric,
        "repetition": is_repetitive,
    }
)
