"""Whether the model's weights are the source's, each and every value.

An exporter may store a matrix transposed, may widen half precision to float32, and may give a tensor another name: all
keep every value, so a tensor is looked for by its name, and then by its values. What was fused or folded is not found.
Initializers that the outputs are not made from count for nothing.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.onnx.flow import Flow
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import text
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.types import count_values
from calaudit.facts.onnx.values import OnnxValues, inline_bytes
from calaudit.facts.onnx.weights import OnnxWeights, Stored, storage_problem
from calaudit.facts.source.safetensors_header import PREFIX, Tensor
from calaudit.facts.source.weights import Weights, is_buffer
from calaudit.model import Location

if TYPE_CHECKING:
    from calaudit.numerics import Array

TENSOR_MAX = 1 << 30
"""Bytes of one source tensor that are held in memory to be compared."""

_WIDENED = frozenset({"F32", "F16", "BF16"})
_FLOAT32 = 1
_PRODUCTS = frozenset({"Conv", "Einsum", "Gemm", "MatMul"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOrigin:
    """What became of the source's tensors. ``available`` says whether the source's weights are in the port."""

    name: ClassVar[str] = "onnx_origin"

    available: bool
    compared: int
    differing: tuple[str, ...]
    absent: tuple[str, ...]
    """Tensors of the source whose values no initializer has."""
    foreign: tuple[str, ...]
    """Initializers that something is multiplied with, and that are no tensor of the source."""
    too_large: tuple[str, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Compare digests of values; MissingFact where model or weights cannot be read, or the graph is not sound."""
        source = facts.get(Weights)
        if not source.complete:
            return cls(available=False, compared=0, differing=(), absent=(), foreign=(), too_large=())
        graph = facts.get(OnnxGraph)
        if not facts.get(OnnxStructure).sound:
            raise MissingFact(f"{graph.path} is not a sound graph; see onnx-invalid.", at=Location(path=graph.path))
        flow = graph.flow
        used = set[str]().union(*(flow.back(name) for name in graph.outputs))
        ours = {name: found for name, found in _ours(facts) if name in used}
        values = {digest for _, digest in ours.values()}
        known: set[str] = set()
        differing, absent, too_large, compared = list[str](), list[str](), list[str](), 0
        for shard in source.shards:
            wanted = [t for t in shard.tensors if t.dtype in _WIDENED and not is_buffer(t)]
            too_large += [t.name for t in wanted if t.end - t.begin > TENSOR_MAX]
            kept = [t for t in wanted if t.end - t.begin <= TENSOR_MAX]
            compared += len(kept)
            start = PREFIX + int.from_bytes(facts.evidence.head(shard.path, PREFIX), "little")
            for tensor, data in _slices(facts.evidence.chunks(shard.path), start, kept):
                count, digest = ours.get(tensor.name, (None, ""))
                forms = _digests(tensor, data)
                known |= forms
                if count == tensor.elements and digest not in forms:
                    differing.append(tensor.name)
                elif values.isdisjoint(forms):
                    absent.append(tensor.name)
        named = {*differing, *too_large}
        factors = set[str]().union(*(flow.back(name) for name in _factors(flow)))
        foreign = [n for n, (_, digest) in ours.items() if n in factors and digest not in known and n not in named]
        return cls(
            available=True,
            compared=compared,
            differing=tuple(sorted(differing)),
            absent=tuple(sorted(absent)),
            foreign=tuple(sorted(foreign)),
            too_large=tuple(sorted(too_large)),
        )


def _factors(flow: Flow) -> Iterator[str]:
    """The constants that products multiply with."""
    for op in flow.ops:
        if op.kind in _PRODUCTS:
            yield from (name for name in op.reads if name in flow.constants)


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
