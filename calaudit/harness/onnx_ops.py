"""The op inventory of a graph, from its protobuf alone: external data is never opened."""

import hashlib
from pathlib import Path

from calaudit.facts.onnx.graph import take_inventory
from calaudit.facts.onnx.scan import scan_model
from calaudit.model import Json

__all__ = ["op_inventory"]


def op_inventory(path: Path) -> dict[str, Json]:
    """The document op-inventory/v1 of a model: every operator with its domain and how often it occurs.

    Nodes of subgraphs and of model-local functions count; the default domain is written ``""`` whatever its spelling.

    Raises:
        Malformed: the bytes are not an ONNX model.
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    found = take_inventory(scan_model(data))
    return {
        "schema": "calaudit-op-inventory/v1",
        "model_sha256": hashlib.sha256(data).hexdigest(),
        "ir_version": found.ir_version,
        "opset_import": [{"domain": domain, "version": version} for domain, version in sorted(found.opsets)],
        "nodes": found.nodes,
        "functions": found.functions,
        "ops": [{"domain": o.domain, "op_type": o.op_type, "count": o.count} for o in found.operators],
    }
