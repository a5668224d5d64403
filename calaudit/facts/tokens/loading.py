"""What the tokenizer's files tell whoever loads them to do to a text besides cutting it into tokens.

One loader obeys, another switches it off, a third never reads it; transformers itself has done each.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts
from calaudit.facts.tokens.special_tokens import TOKENIZER_CONFIG
from calaudit.facts.tokens.unsafe import TOKENIZER
from calaudit.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadingFact:
    """What tokenizer.json and tokenizer_config.json say; None where they do not."""

    name: ClassVar[str] = "tokenizer_loading"

    truncated_to: int | None
    """The tokens that tokenizer.json leaves of a text; 0 where it cuts in a way that cannot be read."""
    pads_alone: bool
    """Whether tokenizer.json adds padding to a text that stands alone."""
    longest: float | None
    """``model_max_length``: the longest text in tokens."""
    lower_case: bool
    """Whether ``do_lower_case`` is true."""

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read both; what is absent or no object says nothing."""
        definition, config = _object(facts, TOKENIZER), _object(facts, TOKENIZER_CONFIG)
        longest = config.get("model_max_length")
        return cls(
            truncated_to=_cut(definition.get("truncation")),
            pads_alone=_pads(definition.get("padding")),
            longest=longest if isinstance(longest, int | float) and not isinstance(longest, bool) else None,
            lower_case=config.get("do_lower_case") is True,
        )


def _object(facts: Facts, path: str) -> dict[str, Json]:
    try:
        document = facts.evidence.document(path)
    except MissingFact:
        return {}  # other facts ask for it
    return document if isinstance(document, dict) else {}


def _cut(truncation: Json) -> int | None:
    if truncation is None:
        return None
    length = truncation.get("max_length") if isinstance(truncation, dict) else None
    return length if isinstance(length, int) and not isinstance(length, bool) and length > 0 else 0


def _pads(padding: Json) -> bool:
    """Padding to the longest text of a batch leaves one text alone; a fixed length or a multiple does not."""
    if padding is None:
        return False
    if not isinstance(padding, dict):
        return True
    multiple = padding.get("pad_to_multiple_of")
    return padding.get("strategy") != "BatchLongest" or multiple not in (None, 0, 1)
