"""A port that is the example cut down to a few short prompts: what a comparison needs, in a second instead of ten."""

import hashlib
import io
import json
import shutil
from pathlib import Path

import numpy as np
import onnx

from tests.casebook import PORT, SIGNED

SAMPLES = ("boundary-0001", "boundary-0016", "multilingual-11", "over-length-2049")
CASES = """schema: calaudit-shape-matrix/v1
cases:
  - {id: prefill-0016, profile: prefill, sequence_length: 16, sample_id: boundary-0016}
  - {id: decode-0001, profile: decode, sequence_length: 1, sample_id: boundary-0001}
"""


def make(root: Path) -> Path:
    """Copy what is needed of the example port to ``root``."""
    port = root / "port"
    left_out = shutil.ignore_patterns("weights", "run-2", "tensors", "vendor", "tools", *SIGNED)
    shutil.copytree(PORT, port, ignore=left_out)
    for name in ("onnx-report.json", "onnx-outputs.jsonl"):
        (port / "02-onnx" / name).unlink()
    for name in ("prompts", "outputs", "tokens"):
        path = port / "01-reference" / f"{name}.jsonl"
        write_records(path, [r for r in records(path) if r["sample_id"] in SAMPLES])
    (port / "configs" / "shape-matrix.yaml").write_text(CASES)
    index = golden(port)
    index["tensors"] = [t for t in index["tensors"] if t["sample_id"] in SAMPLES]
    write_golden(port, index)
    return port


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_records(path: Path, values: list[dict]) -> None:
    path.write_text("".join(json.dumps(v) + "\n" for v in values))


def golden(port: Path) -> dict:
    return json.loads((port / "01-reference/tensor-golden/index.json").read_text())


def write_golden(port: Path, index: dict) -> None:
    (port / "01-reference/tensor-golden/index.json").write_text(json.dumps(index))


def edit_golden(port: Path, number: int, edit) -> str:
    """Change the values of one golden tensor, keep its digest right; the tensor's boundary and sample."""
    index = golden(port)
    entry = index["tensors"][number]
    path = port / "01-reference/tensor-golden" / entry["path"]
    values = edit(np.load(path).copy())
    buffer = io.BytesIO()
    np.save(buffer, values)
    path.write_bytes(buffer.getvalue())
    entry |= {"sha256": hashlib.sha256(buffer.getvalue()).hexdigest(), "shape": list(values.shape)}
    write_golden(port, index)
    return f"{entry['name']} of {entry['sample_id']}"


def edit_model(port: Path, edit) -> None:
    """Change the graph; external data stay where they are."""
    path = port / "02-onnx" / "model.onnx"
    model = onnx.load(path, load_external_data=False)
    edit(model)
    path.write_bytes(model.SerializeToString())


def poke(port: Path, tensor: str, values: list[float]) -> None:
    """Overwrite the first values of an external tensor."""
    model = onnx.load(port / "02-onnx" / "model.onnx", load_external_data=False)
    entries = next(t.external_data for t in model.graph.initializer if t.name == tensor)
    offset = next(int(e.value) for e in entries if e.key == "offset")
    with (port / "02-onnx" / "model.onnx.data").open("r+b") as file:
        file.seek(offset)
        file.write(np.array(values, "<f4").tobytes())
