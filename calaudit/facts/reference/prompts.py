"""The prompt corpus of the reference (``01-reference/prompts.jsonl``): what was asked, as text and as tokens."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from calaudit.evidence import Record
from calaudit.facts import Facts, internal
from calaudit.model import Location

PROMPTS = "01-reference/prompts.jsonl"
OVER_LENGTH = "over-length"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The structured answer to a prompt that does not fit: a code and the limit in tokens."""

    code: str
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One record. Exactly one of ``text`` and ``text_sha256`` is set: a controlled text stays outside the port."""

    at: Location
    sample_id: str
    category: str
    text: str | None
    text_sha256: str | None
    token_ids: tuple[int, ...]
    attention_mask: tuple[int, ...]
    position_ids: tuple[int, ...]
    expected: tuple[int, ...]
    refusal: Refusal | None

    @property
    def legal(self) -> bool:
        """Whether the corpus expects an answer and not a refusal."""
        return self.refusal is None


@dataclass(frozen=True, kw_only=True)
class PromptsFact:
    """How many prompts there are, of which kinds, and all of them."""

    name: ClassVar[str] = "prompts"

    total: int
    legal_count: int
    refused_count: int
    distinct_legal: int
    """Legal prompts with different tokens: a copy under another id does not count."""
    longest: int
    """Tokens of the longest legal prompt."""
    categories: dict[str, int]
    prompts: tuple[Prompt, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the corpus; MissingFact where it is absent or not well-formed."""
        prompts = tuple(_prompt(record) for record in facts.evidence.records(PROMPTS))
        legal = [p for p in prompts if p.legal]
        return cls(
            total=len(prompts),
            legal_count=len(legal),
            refused_count=len(prompts) - len(legal),
            distinct_legal=len({p.token_ids for p in legal}),
            longest=max((len(p.token_ids) for p in legal), default=0),
            categories=dict(sorted(Counter(p.category for p in prompts).items())),
            prompts=prompts,
        )

    @cached_property
    def by_id(self) -> Mapping[str, Prompt]:
        """The first prompt of every sample id."""
        return {p.sample_id: p for p in reversed(self.prompts)}

    @cached_property
    def legal(self) -> tuple[Prompt, ...]:
        """The prompts that must be answered, one a sample id."""
        return tuple(p for p in self.by_id_in_order if p.legal)

    @cached_property
    def refused(self) -> tuple[Prompt, ...]:
        """The prompts that must be refused, one a sample id."""
        return tuple(p for p in self.by_id_in_order if not p.legal)

    @cached_property
    def by_id_in_order(self) -> tuple[Prompt, ...]:
        """The first prompt of every sample id, in the order of the file."""
        return tuple(p for p in self.prompts if self.by_id[p.sample_id] is p)


def _prompt(record: Record) -> Prompt:
    value: Mapping[str, Any] = record.value
    refusal = value.get("expected_refusal")
    reference = value.get("text_ref")
    return Prompt(
        at=Location(path=PROMPTS, line=record.line),
        sample_id=value["sample_id"],
        category=value["category"],
        text=value.get("text"),
        text_sha256=None if reference is None else reference["sha256"],
        token_ids=tuple(value["token_ids"]),
        attention_mask=tuple(value["attention_mask"]),
        position_ids=tuple(value["position_ids"]),
        expected=tuple(value["expected_token_ids"]),
        refusal=None if refusal is None else Refusal(code=refusal["code"], limit=refusal["limit"]),
    )
