"""The vendor's kick-off deliverables (runbook §17): the example has one of the eight, and says so."""

from pathlib import Path

from calaudit.harness.documents import sha256_file, write_json
from calaudit.model import Json

__all__ = ["write_kickoff"]

VENDOR = "Example NPU vendor (fictitious)"

_TITLES = {
    "compiler-image": "Loadable compiler OCI image",
    "compile-replay": "Real compile command and configuration, with a replayable Qwen3 sample",
    "support-matrix": "Support matrix of ONNX operators, opsets and dynamic shapes",
    "quant-tooling": "Quantization and calibration tools, formats and samples",
    "dense-sample": "Single-chip dense sample calbin with golden results and a runner",
    "kernel-docs": "Kernel, fusion, partition and trace documents with a parser",
    "compatibility-matrix": "Compatibility matrix of calbin, runtime, driver and firmware",
    "interface-contract": "Exact contract of batch, key/value cache, timeout and reset",
}


def write_kickoff(port: Path) -> None:
    """Write ``vendor/kickoff.json``: the support matrix was received, nothing else exists."""
    matrix = "vendor/op-matrix.yaml"
    received: dict[str, Json] = {
        "digest": f"sha256:{sha256_file(port / matrix)}",
        "version": "2026.11",
        "received": "2026-11-23",
        "path": matrix,
    }
    missing: dict[str, Json] = {"digest": None, "version": None, "received": None}
    items: list[Json] = [
        {"id": item, "title": title, **(received if item == "support-matrix" else missing)}
        for item, title in _TITLES.items()
    ]
    write_json(
        port / "vendor" / "kickoff.json",
        {"schema": "calaudit-kickoff/v1", "vendor": VENDOR, "items": items, "launch_date": None},
    )
