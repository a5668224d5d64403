"""Compare an exported graph with the reference: greedy tokens, tensors and boundary shapes, through ONNX Runtime.

What it writes is evidence for G2: ``onnx-outputs.jsonl``, ``tensors/`` and, last, ``onnx-report.json``. It compares
everything that the reference holds. What the graph does not give, or gives as NaN or infinity, is a difference and is
not written, so that nobody can mistake it for agreement.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from calaudit.contract import Contract
from calaudit.errors import Malformed, UsageError
from calaudit.evidence import gather
from calaudit.facts import Facts
from calaudit.facts.onnx.export import OnnxExport
from calaudit.facts.onnx.proto import MODEL, MODEL_BYTES_MAX
from calaudit.facts.onnx.results import OUTPUTS, REPORT
from calaudit.facts.port import read_port
from calaudit.facts.reference.prompts import Prompt, PromptsFact
from calaudit.facts.reference.runs import FLOAT32, Output, OutputsFact, ReportFact
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tokens.conformance import ConformanceFact
from calaudit.harness.documents import sha256_file, write_json, write_jsonl
from calaudit.harness.generation import Limits, NotFiniteError, answer_record
from calaudit.harness.onnx_check import check_model
from calaudit.harness.onnx_report import Compared, report_document
from calaudit.harness.onnx_session import LOGITS, OnnxDecoder
from calaudit.harness.onnx_tensors import compare_tensors
from calaudit.harness.outcome import Outcome, Tolerance
from calaudit.model import Json

__all__ = ["compare"]


def compare(root: Path, contract: Contract, invocation: Callable[[], Mapping[str, Json]]) -> Outcome:
    """Compare the model of the port at ``root`` with its reference, and write the evidence.

    ``invocation`` gives the invocation record; it is called when everything was computed.

    Raises:
        MissingFact: a document that the comparison needs is absent or unusable.
        Malformed: the model is not valid ONNX or cannot be driven, or documents contradict each other.
        UsageError: the port's profile does not exist.
    """
    facts = Facts(gather(root, specs=contract.gates, schemas=contract.schemas), contract)
    tolerance = _tolerance(facts)
    facts.evidence.entry(MODEL)
    check = check_model(root / MODEL)
    if not check.ok:
        raise Malformed(" ".join(check.problems))
    taps = {name: value for name, value in facts.get(OnnxExport).boundaries.items() if name != LOGITS}
    model = facts.evidence.read(MODEL, limit=MODEL_BYTES_MAX)
    decoder = OnnxDecoder(model, (root / MODEL).parent, taps)
    outcome = Outcome()
    write_jsonl(root / OUTPUTS, _answers(facts, decoder, outcome))
    compare_tensors(facts, decoder, tolerance, (root / MODEL).parent / "tensors", outcome)
    compared = Compared(
        facts=facts,
        check=check,
        decoder=decoder,
        outcome=outcome,
        onnx_outputs_sha256=sha256_file(root / OUTPUTS),
    )
    write_json(root / REPORT, report_document(compared, invocation()))
    return outcome


def _tolerance(facts: Facts) -> Tolerance:
    name = read_port(facts).profile
    profile = facts.contract.profiles.get(name)
    if profile is None:
        known = ", ".join(sorted(facts.contract.profiles))
        raise UsageError(f"port.yaml: there is no profile {name}; choose one of {known}.")
    params: Mapping[str, Any] = profile.params
    return Tolerance(atol=float(params["fp32_atol"]), rtol=float(params["fp32_rtol"]))


def _limits(facts: Facts) -> Limits:
    eos = facts.get(ConformanceFact).document["eos"]
    return Limits(
        context=facts.get(LimitsFact).context,
        max_new_tokens=facts.get(ReportFact).max_new_tokens,
        eos=None if eos is None else eos["id"],
    )


def _answers(facts: Facts, decoder: OnnxDecoder, outcome: Outcome) -> list[dict[str, Json]]:
    """The graph's answer to every prompt, compared with the reference's as it comes."""
    limits, reference = _limits(facts), facts.get(OutputsFact).by_key
    records = []
    for prompt in facts.get(PromptsFact).by_id_in_order:
        outcome.samples += prompt.legal
        try:
            record = answer_record(decoder, prompt.sample_id, FLOAT32, prompt.token_ids, limits)
        except (NotFiniteError, Malformed) as error:
            problem: str | None = f"the graph gives no usable answer: {error}"
        else:
            records.append(record)
            problem = _difference(prompt, record, reference.get((prompt.sample_id, FLOAT32)))
        if problem is not None:
            outcome.differences.append(f"{prompt.sample_id}: {problem}.")
            if prompt.legal:
                outcome.mismatched.append(prompt.sample_id)
    return records


def _difference(prompt: Prompt, record: Mapping[str, Any], expected: Output | None) -> str | None:
    """How an answer departs from the reference's; None where it does not."""
    if expected is None:
        return "01-reference/outputs.jsonl has no float32 record to compare with"
    if "refused" in record:
        if prompt.legal:
            return "the graph's limits refuse a prompt that must be answered"
        return None if expected.refused is not None else "the reference answers a prompt that must be refused"
    if not prompt.legal:
        return "the graph's limits accept a prompt that must be refused"
    tokens = tuple(step["token"] for step in record["steps"])
    if tokens != expected.tokens:
        return f"the graph answers {list(tokens)}, the reference {list(expected.tokens)}"
    return None
