"""The document onnx-report/v1."""

from collections.abc import Mapping
from dataclasses import dataclass

from calaudit.facts import Facts
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.results import ShapeMatrix
from calaudit.facts.onnx.weights import FOLDER, OnnxWeights
from calaudit.facts.reference.runs import OUTPUTS
from calaudit.facts.tensors.index import TensorKey
from calaudit.facts.tokens.tokenizer import TOKENIZER
from calaudit.harness.onnx_check import CheckResult
from calaudit.harness.onnx_session import LOGITS, RUNTIME, OnnxDecoder
from calaudit.harness.outcome import Outcome
from calaudit.model import Json

__all__ = ["Compared", "report_document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What went into a comparison and what came out."""

    facts: Facts
    check: CheckResult
    decoder: OnnxDecoder
    outcome: Outcome
    onnx_outputs_sha256: str


def report_document(compared: Compared, invocation: Mapping[str, Json]) -> dict[str, Json]:
    """What was compared, of which bytes, with what, and how it came out."""
    facts, outcome = compared.facts, compared.outcome
    evidence = facts.evidence
    return {
        "schema": "calaudit-onnx-report/v1",
        "invocation": dict(invocation),
        "model_sha256": evidence.entry(MODEL).sha256,
        "reference_outputs_sha256": evidence.entry(OUTPUTS).sha256,
        "onnx_outputs_sha256": compared.onnx_outputs_sha256,
        "tokenizer_sha256": evidence.entry(TOKENIZER).sha256,
        "external_data": _external_data(facts),
        "runtime": dict(RUNTIME),
        "checker": compared.check.document(),
        **compared.decoder.signature,
        "greedy": {
            "samples": outcome.samples,
            "equal": outcome.samples - len(outcome.mismatched),
            "mismatched": list[Json](outcome.mismatched),
        },
        "tensors": _tensors(outcome),
        "boundaries": _boundaries(facts, outcome),
    }


def _external_data(facts: Facts) -> list[Json]:
    entries = [facts.evidence.entry(path) for path in facts.get(OnnxWeights).external_files]
    return [{"path": e.path.removeprefix(f"{FOLDER}/"), "bytes": e.size, "sha256": e.sha256} for e in entries]


def _tensors(outcome: Outcome) -> dict[str, Json]:
    worst = max(outcome.deviations, key=lambda key: outcome.deviations[key], default=None)
    where: Json = None
    if worst is not None:
        where = {"name": worst.name, "sample_id": worst.sample_id, "profile": worst.profile, "step": worst.step}
    return {
        "compared": len(outcome.deviations),
        "max_abs_diff": 0.0 if worst is None else outcome.deviations[worst],
        "worst": where,
    }


def _boundaries(facts: Facts, outcome: Outcome) -> list[Json]:
    rows: list[Json] = []
    for case in facts.get(ShapeMatrix).cases:
        key = TensorKey(name=LOGITS, sample_id=case.sample_id, profile=case.profile, step=0)
        if key in outcome.deviations:
            rows.append(
                {
                    "profile": case.profile,
                    "sequence_length": case.length,
                    "sample_id": case.sample_id,
                    "max_abs_diff": outcome.deviations[key],
                }
            )
    return rows
