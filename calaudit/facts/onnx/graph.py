"""What ``02-onnx/model.onnx`` is made of, from its own bytes: versions, operators, metadata. No other file is read.

Counts include subgraphs and function bodies. ``ai.onnx`` is the same domain as the empty one.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import Malformed, MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.onnx.flow import Flow, read_flow
from calaudit.facts.onnx.proto import MODEL, MODEL_BYTES_MAX, read_model, text
from calaudit.facts.onnx.scan import Scan
from calaudit.model import Location

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Operator:
    """How often one operator stands in the model."""

    domain: str
    op_type: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The versions and operators of a model; ``opsets`` in the order of the model, duplicates kept."""

    ir_version: int
    producer: str
    opsets: tuple[tuple[str, int], ...]
    nodes: int
    functions: int
    subgraphs: int
    operators: tuple[Operator, ...]


def canonical_domain(domain: str | bytes) -> str:
    """The domain's one name: the default domain may be written ``ai.onnx`` or empty."""
    name = text(domain)
    return "" if name == "ai.onnx" else name


def take_inventory(scan: Scan) -> Inventory:
    """The inventory of a model from the scan of its bytes."""
    merged: Counter[tuple[str, str]] = Counter()
    for (domain, op_type), count in scan.operators.items():
        merged[canonical_domain(domain), text(op_type)] += count
    return Inventory(
        ir_version=scan.ir_version,
        producer=" ".join(text(part) for part in scan.producer).strip(),
        opsets=tuple((canonical_domain(domain), version) for domain, version in scan.opsets),
        nodes=merged.total(),
        functions=scan.functions,
        subgraphs=scan.subgraphs,
        operators=tuple(Operator(domain=d, op_type=o, count=n) for (d, o), n in sorted(merged.items())),
    )


@dataclass(frozen=True, kw_only=True)
class OnnxGraph:
    """The model's inventory; ``model`` is the parsed protobuf, for checks that look inside, and never to be changed."""

    name: ClassVar[str] = "onnx_graph"

    path: str
    bytes: int
    sha256: str
    ir_version: int
    producer: str
    opset: int | None
    opset_domains: tuple[str, ...]
    nodes: int
    functions: int
    subgraphs: int
    initializers: int
    op_types: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    metadata: dict[str, str]
    inventory: Inventory = internal()
    model: "ModelProto" = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Parse the model; MissingFact where it is absent or no ONNX model (``onnx-invalid`` reports the latter)."""
        entry = facts.evidence.entry(MODEL)
        try:
            data = facts.evidence.read(MODEL, limit=MODEL_BYTES_MAX)
            model, scan = read_model(data)
        except Malformed as error:
            raise MissingFact(f"{MODEL} cannot be read: {error.message}", at=Location(path=MODEL)) from error
        inventory = take_inventory(scan)
        default = [version for domain, version in inventory.opsets if not domain]
        return cls(
            path=MODEL,
            bytes=entry.size,
            sha256=entry.sha256,
            ir_version=inventory.ir_version,
            producer=inventory.producer,
            opset=default[0] if default else None,
            opset_domains=tuple(domain for domain, _ in inventory.opsets),
            nodes=inventory.nodes,
            functions=inventory.functions,
            subgraphs=inventory.subgraphs,
            initializers=len(model.graph.initializer) + len(model.graph.sparse_initializer),
            op_types=tuple(sorted({o.op_type for o in inventory.operators})),
            inputs=tuple(text(value.name) for value in model.graph.input),
            outputs=tuple(text(value.name) for value in model.graph.output),
            metadata={text(m.key): text(m.value) for m in model.metadata_props},
            inventory=inventory,
            model=model,
        )

    @cached_property
    def flow(self) -> Flow:
        """Who makes and who reads each value of the main graph; to be asked for of a structurally sound graph only."""
        return read_flow(self.model.graph)
