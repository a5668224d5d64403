"""The committed example port is what its toolchain makes of the frozen source.

Texts and graphs are compared byte by byte. What comes out of floating-point arithmetic may differ on another CPU, so
there tokens must be equal and logits and tensors close; two runs on one machine must be equal byte by byte.
"""

import json
import platform

import numpy as np

from calaudit.harness.documents import sha256_file
from examples.toolchain.build import FROZEN_SOURCE, build
from tests.casebook import PORT, SIGNED
from tests.harness.small_port import records

EXACT = (
    "port.yaml",
    "configs/shape-matrix.yaml",
    "tools/*.py",
    "vendor/*",
    "00-source/**/*",
    "01-reference/source-sha256.txt",
    "01-reference/prompts.jsonl",
    "01-reference/quality-set.jsonl",
    "01-reference/tokenizer-conformance.json",
    "02-onnx/export-config.yaml",
    "02-onnx/model.onnx",
    "02-onnx/model.onnx.data",
    "02-onnx/op-inventory.json",
)
"""Files without a number that was computed on this CPU."""

MEASURED = {"invocation", "environment", "runtime", "quality", "bf16", "tensors", "boundaries", "checker"}
"""Members of reports that depend on the CPU or on what is installed."""


def test_the_committed_port_is_rebuilt(tmp_path):
    port = tmp_path / "tiny-dense"
    port.mkdir()
    build(port)

    assert names(port) == names(PORT)
    for pattern in EXACT:
        for path in filter(lambda p: p.is_file(), PORT.glob(pattern)):
            place = path.relative_to(PORT)
            assert (port / place).read_bytes() == path.read_bytes(), place
    if platform.python_version_tuple()[:2] == ("3", "11"):  # the Python that requirements/ pins numpy for
        assert_same(port, "01-reference/environment.lock")
    for name in ("outputs", "tokens"):
        assert_same(port, f"01-reference/{name}.jsonl", other=port / f"01-reference/run-2/{name}.jsonl")
    for place in ("01-reference/reference-report.json", "02-onnx/onnx-report.json"):
        assert_same_report(port, place)
    for place in ("01-reference/outputs.jsonl", "02-onnx/onnx-outputs.jsonl"):
        assert_close_outputs(port, place)
    assert_close_scores(port)
    for place in ("01-reference/tensor-golden", "02-onnx/tensors"):
        assert_close_tensors(port, place)

    first = digests(port / "02-onnx")
    build(port, ["G2"])
    assert digests(port / "02-onnx") == first


def test_the_two_runs_are_two_invocations():
    first, second = (
        json.loads((PORT / "01-reference" / place / "reference-report.json").read_text()) for place in ("", "run-2")
    )
    assert first["invocation"]["id"] != second["invocation"]["id"]
    assert first["invocation"]["finished"] <= second["invocation"]["started"]
    assert first["outputs_sha256"] == second["outputs_sha256"]


def test_the_port_is_small():
    assert sum(path.stat().st_size for path in PORT.rglob("*") if path.is_file()) < 10 << 20


def test_the_frozen_source_is_the_committed_one():
    assert PORT / "00-source" == FROZEN_SOURCE


def names(port):
    found = (path.relative_to(port) for path in port.rglob("*"))
    return {path.as_posix() for path in found if path.parts[0] not in SIGNED}


def digests(folder):
    return {path.name: sha256_file(path) for path in folder.rglob("*") if path.is_file()}


def assert_same(port, place, other=None):
    assert (port / place).read_bytes() == (other or PORT / place).read_bytes(), place


def assert_same_report(port, place):
    made, committed = (json.loads((root / place).read_text()) for root in (port, PORT))
    for name in committed.keys() - MEASURED:
        if not name.endswith("outputs_sha256"):
            assert made[name] == committed[name], f"{place}#/{name}"
    assert made["invocation"] == committed["invocation"]


def assert_close_outputs(port, place):
    made, committed = (records(root / place) for root in (port, PORT))
    assert [(r["sample_id"], r["dtype"]) for r in made] == [(r["sample_id"], r["dtype"]) for r in committed]
    for ours, theirs in zip(made, committed, strict=True):
        assert ours.get("refused") == theirs.get("refused")
        if "steps" not in theirs:
            continue
        if theirs["dtype"] == "float32":
            assert [s["token"] for s in ours["steps"]] == [s["token"] for s in theirs["steps"]]
            for step, other in zip(ours["steps"], theirs["steps"], strict=True):
                logits, others = dict(step["top"]), dict(other["top"])
                assert all(abs(logits[t] - others[t]) < 1e-4 for t in logits.keys() & others.keys())
                assert abs(step["margin"] - other["margin"]) < 1e-4
        else:  # a rounding that falls the other way moves a BF16 logit by one unit in its last place
            assert abs(ours["steps"][0]["top"][0][1] - theirs["steps"][0]["top"][0][1]) < 0.25


def assert_close_scores(port):
    made, committed = (records(root / "01-reference/quality-scores.jsonl") for root in (port, PORT))
    for ours, theirs in zip(made, committed, strict=True):
        tolerance = 1e-4 if theirs["dtype"] == "float32" else 0.5
        assert (ours["sample_id"], ours["dtype"]) == (theirs["sample_id"], theirs["dtype"])
        assert abs(ours["logprob"] - theirs["logprob"]) < tolerance


def assert_close_tensors(port, place):
    made, committed = (json.loads((root / place / "index.json").read_text())["tensors"] for root in (port, PORT))
    for ours, theirs in zip(made, committed, strict=True):
        assert {**ours, "sha256": "", "stats": {}} == {**theirs, "sha256": "", "stats": {}}
        values, others = (np.load(root / place / theirs["path"]) for root in (port, PORT))
        np.testing.assert_allclose(values, others, atol=1e-4, rtol=1e-3, err_msg=theirs["path"])
