"""What the vendor brought to the kick-off (runbook §17)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from calaudit.facts import Facts
from calaudit.model import Location

PATH = "vendor/kickoff.json"

ITEMS: dict[str, str] = {
    "compiler-image": "Compiler image (OCI) that loads offline",
    "compile-replay": "Real compile command and config, and a replayable Qwen3 sample",
    "support-matrix": "ONNX, opset and dynamic-shape support matrix",
    "quant-tooling": "Quantization and calibration tools, formats and samples",
    "dense-sample": "Single-chip dense sample: calbin, golden results and runner",
    "kernel-docs": "Kernel, fusion, partition and trace documents, and a parser",
    "compatibility-matrix": "Compatibility matrix of calbin, runtime, driver and firmware",
    "interface-contract": "Exact contract of batch, KV, timeout and reset",
}
"""The eight deliverables in the runbook's order."""

BLOCKING = tuple(ITEMS)[:4]
"""Without these nothing can be compiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KickoffItem:
    """One deliverable as the file states it; None is what it does not state."""

    id: str
    digest: str | None
    version: str | None
    received: str | None
    path: str | None
    at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Kickoff:
    """The kick-off: ``missing`` are the deliverables without a digest, ``blocked`` whether one of the first four is."""

    name: ClassVar[str] = "kickoff"

    vendor: str
    items: tuple[KickoffItem, ...]
    missing: tuple[str, ...]
    blocked: bool
    launch_date: str | None

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the file; MissingFact where it is absent or faulty."""
        raw: Any = facts.evidence.document(PATH)
        items = tuple(_item(item, n) for n, item in enumerate(raw["items"]))
        received = {item.id for item in items if item.digest is not None}
        received -= {item.id for item in items if item.digest is None}  # listed twice, once without: not received
        missing = tuple(item for item in ITEMS if item not in received)
        return cls(
            vendor=raw["vendor"],
            items=items,
            missing=missing,
            blocked=any(item in missing for item in BLOCKING),
            launch_date=raw["launch_date"],
        )


def _item(raw: dict[str, Any], index: int) -> KickoffItem:
    return KickoffItem(
        id=raw["id"],
        digest=raw["digest"],
        version=raw["version"],
        received=raw["received"],
        path=raw.get("path"),
        at=Location(path=PATH, pointer=f"/items/{index}"),
    )
