"""What the reference implementation answered (logits, tokens) and what both runs say of themselves; unjudged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from calaudit.evidence import Record
from calaudit.facts import Facts, internal
from calaudit.facts.reference.output_records import BFLOAT16, DTYPES, FLOAT32, Key, Output, Step, read_outputs
from calaudit.model import Location

__all__ = [
    "BFLOAT16", "DTYPES", "FLOAT32", "FOLDER", "OUTPUTS", "REPORT", "SECOND", "SECOND_REPORT", "TOKENS", "Key",
    "Output", "OutputsFact", "ReportFact", "SecondReportFact", "Step", "TokenRecord", "TokensFact", "read_outputs",
]  # fmt: skip

FOLDER = "01-reference/"
OUTPUTS = f"{FOLDER}outputs.jsonl"
TOKENS = f"{FOLDER}tokens.jsonl"
REPORT = f"{FOLDER}reference-report.json"
SECOND = f"{FOLDER}run-2/"
SECOND_REPORT = f"{SECOND}reference-report.json"


@dataclass(frozen=True, kw_only=True)
class OutputsFact:
    """The first run's ``outputs.jsonl``."""

    name: ClassVar[str] = "reference_outputs"

    records: int
    answered: int
    refused: int
    steps: int
    dtypes: tuple[str, ...]
    outputs: tuple[Output, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the outputs; MissingFact where they are absent or not well-formed."""
        outputs = read_outputs(facts.evidence.records(OUTPUTS), OUTPUTS)
        return cls(
            records=len(outputs),
            answered=sum(o.refused is None for o in outputs),
            refused=sum(o.refused is not None for o in outputs),
            steps=sum(len(o.steps) for o in outputs),
            dtypes=tuple(sorted({o.dtype for o in outputs})),
            outputs=outputs,
        )

    @cached_property
    def by_key(self) -> Mapping[Key, Output]:
        """The first record of every sample and dtype."""
        return {(o.sample_id, o.dtype): o for o in reversed(self.outputs)}

    @cached_property
    def grouped(self) -> Mapping[Key, Sequence[Output]]:
        """All records of every sample and dtype: more than one is one too many."""
        found: dict[Key, list[Output]] = {}
        for output in self.outputs:
            found.setdefault((output.sample_id, output.dtype), []).append(output)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """The tokens one prompt gave in one dtype."""

    at: Location
    sample_id: str
    dtype: str
    token_ids: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TokensFact:
    """The first run's ``tokens.jsonl``."""

    name: ClassVar[str] = "reference_tokens"

    records: int
    tokens: tuple[TokenRecord, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the tokens; MissingFact where they are absent or not well-formed."""
        tokens = tuple(_tokens(record) for record in facts.evidence.records(TOKENS))
        return cls(records=len(tokens), tokens=tokens)

    @cached_property
    def grouped(self) -> Mapping[Key, Sequence[TokenRecord]]:
        """All records of every sample and dtype: more than one is one too many."""
        found: dict[Key, list[TokenRecord]] = {}
        for record in self.tokens:
            found.setdefault((record.sample_id, record.dtype), []).append(record)
        return found


@dataclass(frozen=True, kw_only=True)
class ReportFact:
    """The first run's report."""

    name: ClassVar[str] = "reference_report"

    invocation: str
    started: str
    finished: str
    model_revision: str
    dtypes: tuple[str, ...]
    seed: int
    greedy: bool
    max_new_tokens: int
    container: str | None
    document: Mapping[str, Any] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the report; MissingFact where it is absent or does not follow its schema."""
        document = _mapping(facts.evidence.document(REPORT))
        return cls(
            invocation=document["invocation"]["id"],
            started=document["invocation"]["started"],
            finished=document["invocation"]["finished"],
            model_revision=document["model_revision"],
            dtypes=tuple(document["dtypes"]),
            seed=document["seed"],
            greedy=document["generation"]["greedy"],
            max_new_tokens=document["generation"]["max_new_tokens"],
            container=document["environment"].get("container"),
            document=document,
        )


@dataclass(frozen=True, kw_only=True)
class SecondReportFact:
    """The report of the second, independent run."""

    name: ClassVar[str] = "second_report"

    invocation: str
    started: str
    finished: str
    document: Mapping[str, Any] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the report; MissingFact where it is absent or does not follow its schema."""
        document = _mapping(facts.evidence.document(SECOND_REPORT))
        invocation = document["invocation"]
        return cls(
            invocation=invocation["id"],
            started=invocation["started"],
            finished=invocation["finished"],
            document=document,
        )


def _tokens(record: Record) -> TokenRecord:
    value: Mapping[str, Any] = record.value
    return TokenRecord(
        at=Location(path=TOKENS, line=record.line),
        sample_id=value["sample_id"],
        dtype=value["dtype"],
        token_ids=tuple(value["token_ids"]),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    assert isinstance(value, dict)  # noqa: S101 - its schema says so
    return value
