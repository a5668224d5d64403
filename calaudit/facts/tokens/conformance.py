"""What the reference says of its tokenizer: ``tokenizer-conformance.json``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from calaudit.facts import Facts, internal
from calaudit.model import Location

CONFORMANCE = "01-reference/tokenizer-conformance.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceSample:
    """What the report says of one prompt."""

    at: Location
    sample_id: str
    token_ids: tuple[int, ...]
    decoded: str
    round_trip: bool


@dataclass(frozen=True, kw_only=True)
class ConformanceFact:
    """``tokenizer-conformance.json``."""

    name: ClassVar[str] = "tokenizer_conformance"

    vocab_size: int
    sample_count: int
    round_trips: int
    document: Mapping[str, Any] = internal()
    samples: tuple[ConformanceSample, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the report; MissingFact where it is absent or does not follow its schema."""
        document: Any = facts.evidence.document(CONFORMANCE)
        samples = tuple(_samples(document["samples"]))
        return cls(
            vocab_size=document["vocab_size"],
            sample_count=len(samples),
            round_trips=sum(s.round_trip for s in samples),
            document=document,
            samples=samples,
        )


def _samples(raw: list[Any]) -> Iterator[ConformanceSample]:
    for n, sample in enumerate(raw):
        yield ConformanceSample(
            at=Location(path=CONFORMANCE, pointer=f"/samples/{n}"),
            sample_id=sample["sample_id"],
            token_ids=tuple(sample["token_ids"]),
            decoded=sample["decoded"],
            round_trip=sample["round_trip"],
        )
