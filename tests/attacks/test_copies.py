"""Results that were copied instead of computed."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from calaudit.contract import Contract
from tests.attacks import forge

REFERENCE, ONNX = "01-reference/outputs.jsonl", "02-onnx/onnx-outputs.jsonl"


def test_bf16_is_fp32_with_other_digests(tmp_path: Path, contract: Contract) -> None:
    def copy(port: Path) -> None:
        outputs = forge.records(port / REFERENCE)
        single = {o["sample_id"]: o["steps"] for o in outputs if o["dtype"] == "float32" and "steps" in o}
        for output in outputs:
            if output["dtype"] == "bfloat16" and "steps" in output:
                steps = json.loads(json.dumps(single[output["sample_id"]]))
                for number, step in enumerate(steps):
                    step["logits_sha256"] = hashlib.sha256(f"{output['sample_id']} {number}".encode()).hexdigest()
                output["steps"] = steps
        for run in ("01-reference", "01-reference/run-2"):
            forge.write_records(port / run / "outputs.jsonl", outputs)
            tokens = forge.records(port / run / "tokens.jsonl")
            for record in tokens:
                record["token_ids"] = [step["token"] for step in single[record["sample_id"]]]
            forge.write_records(port / run / "tokens.jsonl", tokens)
        for path in forge.REPORTS:
            forge.edit(port / path, lambda r: r["bf16"].update(max_abs_top_logit_diff=0.0, token_disagreements=0))

    report = forge.judge(tmp_path, contract, copy)
    (answer,) = forge.answers(report, "G1.bf16-out-of-tolerance")
    assert answer.startswith("fail: 104 BF16 output(s) have the very logits of the FP32 output")
    assert forge.answers(report, "G1.claim-not-reproduced") == ["pass: "]


def test_most_of_bf16_is_its_own_and_some_prompts_are_fp32_rounded_anew(tmp_path: Path, contract: Contract) -> None:
    def copy(port: Path) -> None:
        outputs = forge.records(port / REFERENCE)
        single = {o["sample_id"]: o for o in outputs if o["dtype"] == "float32" and "steps" in o}
        for output in outputs:
            if output["dtype"] == "bfloat16" and "steps" in output:
                for step, wanted in zip(output["steps"], single[output["sample_id"]]["steps"], strict=True):
                    if step["token"] != wanted["token"]:
                        break
                    logits = dict(wanted["top"])
                    step["top"][-1][1] = logits.get(step["top"][-1][0], step["top"][-1][1])
        for run in ("01-reference", "01-reference/run-2"):
            forge.write_records(port / run / "outputs.jsonl", outputs)

    report = forge.judge(tmp_path, contract, copy)
    (answer,) = forge.answers(report, "G1.bf16-out-of-tolerance")
    assert answer.startswith("fail: Too many BF16 logits are the FP32 logits")


def test_the_onnx_run_is_the_reference_but_for_one_step(tmp_path: Path, contract: Contract) -> None:
    def copy(port: Path) -> None:
        single = {o["sample_id"]: o for o in forge.records(port / REFERENCE) if o["dtype"] == "float32"}
        single["shortest-00"]["steps"][0]["logits_sha256"] = "0" * 64
        forge.write_records(port / ONNX, [single[o["sample_id"]] for o in forge.records(port / ONNX)])
        for path in (port / "02-onnx/tensors").glob("*.npy"):
            shutil.copyfile(port / "01-reference/tensor-golden" / path.name, path)
        golden = json.loads((port / "01-reference/tensor-golden/index.json").read_bytes())
        forge.edit(port / "02-onnx/tensors/index.json", lambda index: index.update(golden))
        forge.edit(port / "02-onnx/onnx-report.json", _no_difference)

    report = forge.judge(tmp_path, contract, copy)
    (answer,) = forge.answers(report, "G2.logits-out-of-tolerance")
    assert answer.startswith("fail: Of 1635 steps too many have the very logits of the reference")
    (answer,) = forge.answers(report, "G2.tensor-out-of-tolerance")
    assert answer.startswith("fail: 45 of 45 computed tensors have the very values of the reference")
    assert forge.answers(report, "G2.claim-not-reproduced") == ["pass: "]


def _no_difference(report: dict[str, Any]) -> None:
    report["tensors"]["max_abs_diff"] = 0.0
    for row in report["boundaries"]:
        row["max_abs_diff"] = 0.0


def test_the_onnx_run_has_the_logits_of_the_reference_under_other_digests(tmp_path: Path, contract: Contract) -> None:
    def copy(port: Path) -> None:
        single = {o["sample_id"]: o for o in forge.records(port / REFERENCE) if o["dtype"] == "float32"}
        answers = forge.records(port / ONNX)
        for answer in answers:
            for step, wanted in zip(answer.get("steps", ()), single[answer["sample_id"]].get("steps", ()), strict=True):
                step.update(wanted, logits_sha256=step["logits_sha256"])
        forge.write_records(port / ONNX, answers)

    (answer,) = forge.answers(forge.judge(tmp_path, contract, copy), "G2.logits-out-of-tolerance")
    assert answer.startswith("fail: Of 1635 steps too many")


def test_one_answer_to_many_prompts(tmp_path: Path, contract: Contract) -> None:
    def copy(port: Path) -> None:
        for run in ("01-reference", "01-reference/run-2"):
            outputs = forge.records(port / run / "outputs.jsonl")
            one = {o["dtype"]: o for o in outputs if o["sample_id"] == "shortest-00"}
            for output in outputs:
                if output["sample_id"] in ("code-00", "numbers-00", "shortest-01"):
                    output["steps"] = one[output["dtype"]]["steps"]
            forge.write_records(port / run / "outputs.jsonl", outputs)

    (answer,) = forge.answers(forge.judge(tmp_path, contract, copy), "G1.reference-logits-inconsistent")
    assert "have the very same logits after different tokens: shortest-01 like shortest-00" in answer


def test_the_quality_of_bf16_is_that_of_fp32_but_for_one_answer(tmp_path: Path, contract: Contract) -> None:
    def copy(port: Path) -> None:
        scores = forge.records(port / "01-reference/quality-scores.jsonl")
        single = {s["sample_id"]: s for s in scores if s["dtype"] == "float32"}
        copied = [{**single[s["sample_id"]], "dtype": s["dtype"]} for s in scores]
        copied[-1]["logprob"] -= 1e-6
        forge.write_records(port / "01-reference/quality-scores.jsonl", copied)

    (answer,) = forge.answers(forge.judge(tmp_path, contract, copy), "G1.quality-baseline-missing")
    assert answer.startswith("fail: Too many BF16 answers have the very log-probability of the FP32 answer")


def test_the_quality_of_bf16_is_that_of_fp32(tmp_path: Path, contract: Contract) -> None:
    def copy(port: Path) -> None:
        scores = forge.records(port / "01-reference/quality-scores.jsonl")
        single = {s["sample_id"]: s for s in scores if s["dtype"] == "float32"}
        copied = [{**single[s["sample_id"]], "dtype": s["dtype"]} for s in scores]
        forge.write_records(port / "01-reference/quality-scores.jsonl", copied)
        for path in forge.REPORTS:
            forge.edit(port / path, lambda r: r["quality"].update(bfloat16=r["quality"]["float32"]))

    report = forge.judge(tmp_path, contract, copy)
    assert forge.answers(report, "G1.quality-baseline-missing") == [
        "fail: The BF16 answers have the very log-probabilities of the FP32 answers: a copy."
    ]
