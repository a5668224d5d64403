"""The reference step (G1): every legal prompt through the numpy model, in float32 and in bfloat16.

A run writes ``outputs.jsonl``, ``tokens.jsonl`` and ``reference-report.json`` beside each other. The first run also
writes what exists once: the tensor goldens, the quality scores and the tokenizer conformance. The second run is another
process with its own invocation record; nothing is copied from the first.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calaudit.errors import UsageError
from calaudit.harness.documents import sha256_file, write_json, write_jsonl
from calaudit.harness.generation import Limits, answer_record, generate
from calaudit.model import Json
from examples.toolchain.checkpoint import Config
from examples.toolchain.conformance import conformance
from examples.toolchain.golden import write_golden
from examples.toolchain.invocation import environment, invocation
from examples.toolchain.llama import Llama
from examples.toolchain.quality import score, summary

__all__ = ["DETERMINISM", "MAX_NEW_TOKENS", "Run", "expected_tokens", "limits_of", "run_reference"]

MAX_NEW_TOKENS = 16
DETERMINISM = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
"""The environment variables that a run needs to give the same bits again on the same machine."""

Records = Sequence[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the reference: where it reads, where it writes, and which one it is."""

    source: Path
    prompts: Path
    output: Path
    dtypes: tuple[str, ...]
    number: int

    @property
    def reference(self) -> Path:
        """The folder of the corpus, ``01-reference``."""
        return self.prompts.parent


def limits_of(config: Config) -> Limits:
    """How far a prompt of this model is continued."""
    return Limits(context=config.context, max_new_tokens=MAX_NEW_TOKENS, eos=config.eos)


def expected_tokens(source: Path, prompts: Records) -> list[list[int]]:
    """The float32 greedy tokens of each prompt; none for one that is refused."""
    model = Llama.load(source, "float32")
    limits = limits_of(model.config)
    return [
        [] if "expected_refusal" in p else [int(s.argmax()) for s in generate(model, p["token_ids"], limits)]
        for p in prompts
    ]


def run_reference(run: Run) -> None:
    """Compute everything and write it.

    Raises:
        UsageError: the environment variables of :data:`DETERMINISM` are not set.
    """
    for name, value in DETERMINISM.items():
        if os.environ.get(name) != value:
            raise UsageError(f"{name} is {os.environ.get(name)!r}; start the reference with {name}={value}.")
    prompts = _read_jsonl(run.prompts)
    quality_set = _read_jsonl(run.reference / "quality-set.jsonl")
    outputs: list[dict[str, Json]] = []
    scores: list[dict[str, Json]] = []
    for dtype in run.dtypes:
        model = Llama.load(run.source, dtype)
        limits = limits_of(model.config)
        outputs += [answer_record(model, p["sample_id"], dtype, p["token_ids"], limits) for p in prompts]
        scores += score(model, dtype, quality_set)
        if run.number == 1 and dtype == "float32":
            write_golden(model, prompts, run.reference / "tensor-golden")
    run.output.parent.mkdir(exist_ok=True)
    write_jsonl(run.output, outputs)
    write_jsonl(run.output.with_name("tokens.jsonl"), _token_records(outputs))
    write_json(run.output.with_name("reference-report.json"), _report(run, outputs, quality_set, scores))
    if run.number == 1:
        legal = [p for p in prompts if "expected_refusal" not in p]
        write_jsonl(run.reference / "quality-scores.jsonl", scores)
        write_json(run.reference / "tokenizer-conformance.json", conformance(run.source, legal))


def _token_records(outputs: Records) -> list[dict[str, Json]]:
    return [
        {"sample_id": o["sample_id"], "dtype": o["dtype"], "token_ids": [s["token"] for s in o["steps"]]}
        for o in outputs
        if "steps" in o
    ]


def _report(run: Run, outputs: Records, quality_set: Records, scores: Records) -> dict[str, Json]:
    manifest = json.loads((run.source / "source-manifest.json").read_bytes())
    answered = [o for o in outputs if "steps" in o]
    refused = {o["sample_id"] for o in outputs if "refused" in o}
    prompts = {o["sample_id"] for o in outputs}
    quality: dict[str, Json] = {"samples": len(quality_set)}
    for dtype in run.dtypes:
        quality[dtype] = summary(quality_set, [s for s in scores if s["dtype"] == dtype])
    return {
        "schema": "calaudit-reference-report/v1",
        "invocation": invocation("reference", run=run.number, order=run.number),
        "environment": environment(("ml-dtypes", "numpy", "safetensors", "tokenizers")),
        "model_revision": manifest["revision"],
        "tokenizer_sha256": sha256_file(run.source / "hf-config" / "tokenizer.json"),
        "prompts_sha256": sha256_file(run.prompts),
        "outputs_sha256": sha256_file(run.output),
        "dtypes": list(run.dtypes),
        "seed": 0,
        "determinism": dict(DETERMINISM),
        "generation": {"greedy": True, "max_new_tokens": MAX_NEW_TOKENS},
        "counts": {
            "prompts": len(prompts),
            "legal": len(prompts - refused),
            "refused": len(refused),
            "outputs": len(answered),
        },
        "quality": quality,
        "bf16": _bf16(answered),
    }


def _bf16(answered: Records) -> dict[str, Json]:
    """How BF16 departs from FP32: at the first step, where both saw the same tokens, and in the tokens that follow."""
    fp32, bf16 = ({o["sample_id"]: o["steps"] for o in answered if o["dtype"] == d} for d in ("float32", "bfloat16"))
    differences = [_top_difference(fp32[sample][0], bf16[sample][0]) for sample in fp32]
    return {
        "samples": len(fp32),
        "max_abs_top_logit_diff": max(d for d in differences if d is not None),
        "token_disagreements": sum(_tokens(fp32[sample]) != _tokens(bf16[sample]) for sample in fp32),
        "min_fp32_margin": min(step["margin"] for steps in fp32.values() for step in steps),
    }


def _top_difference(fp32: Mapping[str, Any], bf16: Mapping[str, Any]) -> float | None:
    token, logit = fp32["top"][0]
    other = dict(bf16["top"]).get(token)
    return None if other is None else abs(logit - other)


def _tokens(steps: Records) -> list[int]:
    return [step["token"] for step in steps]


def _read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]
