"""Tools of a forger: a copy of the good port, edits of its binary files, and digests that fit afterwards."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calaudit import Report, audit
from calaudit.contract import Contract
from tests import rehash
from tests.casebook import PORT, copy_port

CHECKPOINT = "00-source/weights/model.safetensors"
MANIFEST = "00-source/source-manifest.json"
REPORTS = ("01-reference/reference-report.json", "01-reference/run-2/reference-report.json")


def judge(folder: Path, contract: Contract, forge: Callable[[Path], object]) -> Report:
    """Audit a copy of the good port that was forged, all of its digests brought up to date."""
    port = folder / "port"
    copy_port(port)
    before = rehash.digests_of_a_fresh_copy(PORT)
    forge(port)
    rehash.update(port, contract, before)
    return audit(port, contract=contract)


def answers(report: Report, key: str) -> list[str]:
    """What a rule says: kind and message of each result."""
    return [f"{result.kind}: {result.message}" for result in report.of(key)]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write_records(path: Path, values: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON document."""
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def rewrite_checkpoint(port: Path, change: Callable[[str, list[int], bytes], tuple[list[int], bytes] | None]) -> int:
    """Change the tensors of the checkpoint, or drop those for which ``change`` gives None; returns the parameters."""
    raw = (port / CHECKPOINT).read_bytes()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    header: dict[str, Any] = {}
    data = b""
    parameters = 0
    for name, tensor in json.loads(raw[8:start]).items():
        if name == "__metadata__":
            header[name] = tensor
            continue
        begin, end = tensor["data_offsets"]
        changed = change(name, tensor["shape"], raw[start + begin : start + end])
        if changed is None:
            continue
        shape, values = changed
        header[name] = {**tensor, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
        parameters += len(values) // 2
    text = json.dumps(header, separators=(",", ":")).encode()
    (port / CHECKPOINT).write_bytes(struct.pack("<Q", len(text)) + text + data)
    return parameters
