"""A folder of tensors: ``index.json`` (tensor-index/v1) and one ``.npy`` file a tensor."""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calaudit.facts.tensors.index import TensorKey
from calaudit.files import write_atomic
from calaudit.harness.documents import write_json
from calaudit.model import Json
from calaudit.numerics import stats_of

__all__ = ["TensorFolder", "TensorKey"]


@dataclass(kw_only=True)
class TensorFolder:
    """Tensors on their way to a folder; :meth:`close` writes the index."""

    root: Path
    boundaries: Sequence[str]
    _entries: dict[TensorKey, dict[str, Json]] = field(default_factory=dict)

    def add(self, key: TensorKey, values: NDArray[np.float32]) -> None:
        """Write one tensor as little-endian float32 in C order.

        Raises:
            ValueError: a value is NaN or infinite, or there is none: no tensor of a golden.
        """
        stats = stats_of(values)
        if not stats.finite:
            raise ValueError(f"{key} holds NaN or infinity, or nothing")
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.ascontiguousarray(values, "<f4"), version=(1, 0), allow_pickle=False)
        data = buffer.getvalue()
        path = f"{key.sample_id}.{key.profile}.{key.step}.{key.name}.npy"
        self.root.mkdir(parents=True, exist_ok=True)
        write_atomic(self.root / path, data)
        self._entries[key] = {
            "name": key.name,
            "sample_id": key.sample_id,
            "profile": key.profile,
            "step": key.step,
            "path": path,
            "dtype": "float32",
            "shape": list(values.shape),
            "sha256": hashlib.sha256(data).hexdigest(),
            "stats": {"min": stats.min, "max": stats.max, "mean": stats.mean, "l2": stats.l2},
        }

    def close(self) -> None:
        """Remove tensors that an earlier run left, and write the index in the order in which tensors were added."""
        for stale in {p.name for p in self.root.glob("*.npy")} - {entry["path"] for entry in self._entries.values()}:
            (self.root / stale).unlink()
        write_json(
            self.root / "index.json",
            {
                "schema": "calaudit-tensor-index/v1",
                "boundaries": list(self.boundaries),
                "tensors": list[Json](self._entries.values()),
            },
        )
