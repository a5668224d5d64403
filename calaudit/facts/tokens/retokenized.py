"""The prompts put through the tokenizer again: what their texts really are, and what they really give."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from calaudit.facts import Facts, internal
from calaudit.facts.reference.prompts import Prompt, PromptsFact
from calaudit.facts.tokens.tokenizer import TokenizerFact


@dataclass(frozen=True, slots=True, kw_only=True)
class Retokenized:
    """One prompt again. ``text`` is None where it is controlled and the prompt's own tokens do not spell it."""

    prompt: Prompt
    text: str | None
    token_ids: tuple[int, ...]
    bare: tuple[int, ...]
    """The tokens of the text alone, without what the tokenizer adds."""
    decoded: str
    """The text of :attr:`token_ids`, special tokens shown."""
    decoded_bare: str
    """The text of :attr:`bare`."""

    @property
    def round_trip(self) -> bool:
        """Whether decoding what was encoded gives the text back."""
        return self.text is not None and self.decoded_bare == self.text


@dataclass(frozen=True, kw_only=True)
class RetokenizedFact:
    """Every prompt again, in the order of the file."""

    name: ClassVar[str] = "retokenized"

    known: int
    """Prompts whose text is known."""
    same: int
    """Prompts whose text gives exactly the recorded tokens."""
    round_trips: int
    samples: tuple[Retokenized, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Retokenize; MissingFact where corpus or tokenizer is missing."""
        tokenizer = facts.get(TokenizerFact)
        samples = tuple(_again(tokenizer, prompt) for prompt in facts.get(PromptsFact).prompts)
        return cls(
            known=sum(s.text is not None for s in samples),
            same=sum(s.text is not None and s.token_ids == s.prompt.token_ids for s in samples),
            round_trips=sum(s.round_trip for s in samples),
            samples=samples,
        )

    @cached_property
    def by_id(self) -> Mapping[str, Retokenized]:
        """The first prompt of every sample id."""
        return {s.prompt.sample_id: s for s in reversed(self.samples)}


def _again(tokenizer: TokenizerFact, prompt: Prompt) -> Retokenized:
    text = prompt.text if prompt.text is not None else _controlled(tokenizer, prompt)
    if text is None:
        return Retokenized(prompt=prompt, text=None, token_ids=(), bare=(), decoded="", decoded_bare="")
    ids, bare = tokenizer.encode(text), tokenizer.encode_bare(text)
    return Retokenized(
        prompt=prompt,
        text=text,
        token_ids=ids,
        bare=bare,
        decoded=tokenizer.decode(ids),
        decoded_bare=tokenizer.decode(bare),
    )


def _controlled(tokenizer: TokenizerFact, prompt: Prompt) -> str | None:
    # The text is kept elsewhere, but its digest is known: the tokens may spell it.
    ids = prompt.token_ids
    if any(not 0 <= i <= tokenizer.max_id for i in ids):
        return None
    stop = len(ids) - len(tokenizer.suffix)
    if ids[: len(tokenizer.prefix)] != tokenizer.prefix or ids[stop:] != tokenizer.suffix:
        return None
    text = tokenizer.decode(ids[len(tokenizer.prefix) : stop])
    return text if hashlib.sha256(text.encode()).hexdigest() == prompt.text_sha256 else None
