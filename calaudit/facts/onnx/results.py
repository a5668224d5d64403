"""What running the model gave: ``onnx-report.json``, the generated tokens, and the boundary cases that were planned."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, cast

from calaudit.facts import Facts, internal
from calaudit.facts.reference.runs import Output, read_outputs
from calaudit.model import Location

REPORT = "02-onnx/onnx-report.json"
OUTPUTS = "02-onnx/onnx-outputs.jsonl"
INVENTORY = "02-onnx/op-inventory.json"
MATRIX = "configs/shape-matrix.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxReport:
    """The report of the ONNX run; everything in it is a claim."""

    name: ClassVar[str] = "onnx_report"

    invocation: str
    started: str
    finished: str
    runtime: str
    runtime_version: str
    optimization: str
    checker_ok: bool
    checker_full: bool
    checker_version: str
    greedy_samples: int
    greedy_equal: int
    tensors_compared: int
    max_abs_diff: float
    tokenizer_sha256: str
    external_files: tuple[str, ...]
    """Paths relative to ``02-onnx/``, as listed."""
    document: Mapping[str, Any] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the report; MissingFact where it is absent or does not follow its schema."""
        document = cast("dict[str, Any]", facts.evidence.document(REPORT))
        runtime, checker = document["runtime"], document["checker"]
        return cls(
            invocation=document["invocation"]["id"],
            started=document["invocation"]["started"],
            finished=document["invocation"]["finished"],
            runtime=runtime["name"],
            runtime_version=runtime["version"],
            optimization=runtime["optimization"],
            checker_ok=checker["ok"],
            checker_full=checker["full_check"],
            checker_version=checker["version"],
            greedy_samples=document["greedy"]["samples"],
            greedy_equal=document["greedy"]["equal"],
            tensors_compared=document["tensors"]["compared"],
            max_abs_diff=float(document["tensors"]["max_abs_diff"]),
            tokenizer_sha256=document["tokenizer_sha256"],
            external_files=tuple(item["path"] for item in document["external_data"]),
            document=document,
        )


@dataclass(frozen=True, kw_only=True)
class OnnxOutputs:
    """``onnx-outputs.jsonl``: the tokens and top logits of each prompt."""

    name: ClassVar[str] = "onnx_outputs"

    records: int
    answered: int
    refused: int
    outputs: tuple[Output, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the outputs; MissingFact where they are absent or not well-formed."""
        outputs = read_outputs(facts.evidence.records(OUTPUTS), OUTPUTS)
        return cls(
            records=len(outputs),
            answered=sum(o.refused is None for o in outputs),
            refused=sum(o.refused is not None for o in outputs),
            outputs=outputs,
        )

    @cached_property
    def by_id(self) -> Mapping[str, Output]:
        """The first record of every sample."""
        return {o.sample_id: o for o in reversed(self.outputs)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryCase:
    """One planned comparison: a sample whose prompt has exactly ``length`` tokens, run through one profile."""

    id: str
    profile: str
    length: int
    sample_id: str
    at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeMatrix:
    """``configs/shape-matrix.yaml``: the boundary cases."""

    name: ClassVar[str] = "shape_matrix"

    lengths: tuple[int, ...]
    cases: tuple[BoundaryCase, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the matrix; MissingFact where it is absent or does not follow its schema."""
        document = cast("dict[str, Any]", facts.evidence.document(MATRIX))
        cases = tuple(
            BoundaryCase(
                id=raw["id"],
                profile=raw["profile"],
                length=raw["sequence_length"],
                sample_id=raw["sample_id"],
                at=Location(path=MATRIX, pointer=f"/cases/{index}"),
            )
            for index, raw in enumerate(document["cases"])
        )
        return cls(lengths=tuple(sorted({case.length for case in cases})), cases=cases)
