"""Whether the initializers that kept the name of a source tensor have its values, each and every one.

An exporter may store a matrix transposed, and may widen half precision to float32: both keep every value. A tensor that
the exporter renamed or fused with others is not looked at; the goldens judge those.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.facts import Facts, internal
from calaudit.facts.onnx_proto import text
from calaudit.facts.onnx_types import count_values
from calaudit.facts.onnx_values import OnnxValues, inline_bytes
from calaudit.facts.onnx_weights import OnnxWeights, Stored, storage_problem
from calaudit.facts.safetensors_header import PREFIX, Tensor
from calaudit.facts.weights import Weights

if TYPE_CHECKING:
    from calaudit.numerics import Array

TENSOR_MAX = 1 << 30
"""Bytes of one source tensor that are held in memory to be compared."""

_WIDENED = frozenset({"F32", "F16", "BF16"})
_FLOAT32 = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOrigin:
    """Initializers by source name. ``available`` says whether the source's weights are in the port."""

    name: ClassVar[str] = "onnx_origin"

    available: bool
    compared: int
    differing: tuple[str, ...]
    too_large: tuple[str, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Compare digests of values; MissingFact where model or weights cannot be read."""
        source = facts.get(Weights)
        if not source.complete:
            return cls(available=False, compared=0, differing=(), too_large=())
        ours = dict(_ours(facts))
        differing: list[str] = []
        too_large: list[str] = []
        compared = 0
        for shard in source.shards:
            wanted = [t for t in shard.tensors if t.name in ours and t.dtype in _WIDENED]
            wanted = [t for t in wanted if t.elements == ours[t.name][0]]
            too_large += [t.name for t in wanted if t.end - t.begin > TENSOR_MAX]
            kept = [t for t in wanted if t.end - t.begin <= TENSOR_MAX]
            compared += len(kept)
            start = PREFIX + int.from_bytes(facts.evidence.head(shard.path, PREFIX), "little")
            for tensor, data in _slices(facts.evidence.chunks(shard.path), start, kept):
                if ours[tensor.name][1] not in _digests(tensor, data):
                    differing.append(tensor.name)
        return cls(
            available=True, compared=compared, differing=tuple(sorted(differing)), too_large=tuple(sorted(too_large))
        )


def _ours(facts: Facts) -> Iterator[tuple[str, tuple[int, str]]]:
    """Name, number of values and digest of every float32 initializer of the main graph that is sound."""
    digests = facts.get(OnnxValues).digests
    extents = {e.tensor: (e.path, e.offset, e.length) for e in facts.get(OnnxWeights).external.extents}
    for stored in facts.get(OnnxWeights).stored:
        name, values = text(stored.proto.name), count_values(tuple(stored.proto.dims))
        if not _is_plain(stored) or values is None:
            continue
        if not stored.external:
            yield name, (values, hashlib.sha256(inline_bytes(stored.proto)).hexdigest())
        elif name in extents:
            yield name, (values, digests[extents[name]])


def _is_plain(stored: Stored) -> bool:
    proto = stored.proto
    plain = stored.role == "initializer" and stored.where == "the graph" and proto.data_type == _FLOAT32
    return plain and storage_problem(proto) is None


def _slices(chunks: Iterable[memoryview], start: int, tensors: Iterable[Tensor]) -> Iterator[tuple[Tensor, bytes]]:
    """The bytes of each tensor, in the order of the file; all chunks are read, so that the file's digest is checked."""
    pending = sorted(tensors, key=lambda t: t.begin)
    buffer, at, first = bytearray(), 0, 0
    for chunk in chunks:
        end = at + len(chunk)
        while first < len(pending):
            tensor = pending[first]
            begin = start + tensor.begin + len(buffer)
            stop = start + tensor.end
            if begin >= end and stop > begin:
                break
            buffer += chunk[begin - at : stop - at]
            if stop > end:
                break
            yield tensor, bytes(buffer)
            buffer.clear()
            first += 1
        at = end


def _digests(tensor: Tensor, data: bytes) -> set[str]:
    """The digest of the values as float32, as they stand and transposed."""
    import numpy as np  # noqa: PLC0415 - heavy

    values: Array
    if tensor.dtype == "BF16":
        values = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    else:
        values = np.frombuffer(data, "<f4" if tensor.dtype == "F32" else "<f2").astype("<f4", copy=False)
    forms = [values, values.reshape(tensor.shape).T] if len(tensor.shape) == 2 else [values]
    return {hashlib.sha256(np.ascontiguousarray(form).tobytes()).hexdigest() for form in forms}
