"""What the vendor says it supports (``vendor/op-matrix.yaml``): opsets, operators, element types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

from calaudit.facts import Facts, internal
from calaudit.facts.onnx.graph import canonical_domain
from calaudit.model import Location

PATH = "vendor/op-matrix.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpSupport:
    """One row: an operator in some opsets. ``lowering`` may be ``unsupported``."""

    domain: str
    op_type: str
    opsets: tuple[int, ...]
    dtypes: tuple[str, ...]
    support: str
    lowering: str
    at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class OpMatrix:
    """The matrix; who signed it is another question (``vendor-unsigned``)."""

    name: ClassVar[str] = "op_matrix"

    vendor: str
    version: str
    date: str
    opsets: tuple[int, ...]
    ir_versions: tuple[int, ...]
    external_data: bool | None
    dynamic_shapes: bool | None
    op_types: tuple[str, ...]
    document: Mapping[str, Any] = internal()
    ops: tuple[OpSupport, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the matrix; MissingFact where it is absent or does not follow its schema."""
        document = cast("dict[str, Any]", facts.evidence.document(PATH))
        onnx = document["onnx"]
        ops = tuple(_row(raw, index) for index, raw in enumerate(document["ops"]))
        return cls(
            vendor=document["vendor"],
            version=str(document["version"]),
            date=str(document["date"]),
            opsets=tuple(onnx["opsets"]),
            ir_versions=tuple(onnx.get("ir_versions") or ()),
            external_data=onnx.get("external_data"),
            dynamic_shapes=onnx.get("dynamic_shapes"),
            op_types=tuple(sorted({op.op_type for op in ops})),
            document=document,
            ops=ops,
        )

    def find(self, domain: str, op_type: str) -> tuple[OpSupport, ...]:
        """The rows of one operator."""
        return tuple(op for op in self.ops if (op.domain, op.op_type) == (domain, op_type))


def _row(raw: Mapping[str, Any], index: int) -> OpSupport:
    return OpSupport(
        domain=canonical_domain(raw.get("domain", "")),
        op_type=raw["op_type"],
        opsets=tuple(raw.get("opsets") or ()),
        dtypes=tuple(raw.get("dtypes") or ()),
        support=str(raw.get("support")),
        lowering=str(raw.get("lowering")),
        at=Location(path=PATH, pointer=f"/ops/{index}"),
    )
