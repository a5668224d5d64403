"""Output records (``output-record/v1``): what a run answered, step by step; of the reference and of the ONNX graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calaudit.evidence import Record
from calaudit.model import Location

FLOAT32 = "float32"
BFLOAT16 = "bfloat16"
DTYPES = (FLOAT32, BFLOAT16)
"""The arithmetic a reference must exist in (runbook §5.3)."""

Key = tuple[str, str]
"""A sample id and a dtype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One generated token, the highest logits in descending order, and the digest of all of them."""

    token: int
    margin: float
    top: tuple[tuple[int, float], ...]
    logits_sha256: str

    @property
    def logits(self) -> Mapping[int, float]:
        """The logit of each token that the record keeps; the first, where one stands in the list twice."""
        return dict(reversed(self.top))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The structured refusal of one prompt."""

    code: str
    limit: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What one prompt gave in one dtype: steps, or a refusal."""

    at: Location
    sample_id: str
    dtype: str
    steps: tuple[Step, ...]
    refused: Refused | None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The generated tokens."""
        return tuple(step.token for step in self.steps)


def read_outputs(records: Sequence[Record], path: str) -> tuple[Output, ...]:
    """The records of any file that follows ``output-record/v1``."""
    return tuple(_output(record, path) for record in records)


def _output(record: Record, path: str) -> Output:
    value: Mapping[str, Any] = record.value
    refused = value.get("refused")
    return Output(
        at=Location(path=path, line=record.line),
        sample_id=value["sample_id"],
        dtype=value["dtype"],
        steps=tuple(
            Step(
                token=step["token"],
                margin=float(step["margin"]),
                top=tuple([(token, float(logit)) for token, logit in step["top"]]),
                logits_sha256=step["logits_sha256"],
            )
            for step in value.get("steps", ())
        ),
        refused=None
        if refused is None
        else Refused(code=refused["code"], limit=refused["limit"], length=refused["length"]),
    )
