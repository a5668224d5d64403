"""Whether the model's weights are the source's, each and every value.

An exporter may store a matrix transposed, may widen half precision to float32, and may give a tensor another name: all
keep every value, so a tensor is looked for by its name, and then by its values. What was fused, folded or quantised is
not found. What the outputs do not take the values of counts for nothing.

The other way round, all that the model stores and the outputs take the values of has to be a tensor of the source,
wherever it stands and whatever type it has. Left out are tensors of a few values, and the tables of the rotary
embedding (:meth:`~calaudit.facts.onnx.dependence.Dependence.rotates`). A stored mask or table of other use is not told
from a weight: nothing says of its values that they are none.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.onnx.carriers import FEW, Carrier, assembled, carriers
from calaudit.facts.onnx.dependence import Dependence
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import text
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.values import OnnxValues
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.facts.source.safetensors_header import BITS, PREFIX, Tensor
from calaudit.facts.source.weights import Weights, is_buffer
from calaudit.model import Location

if TYPE_CHECKING:
    from calaudit.numerics import Array

TENSOR_MAX = 1 << 30
"""Bytes of one source tensor that are held in memory to be compared."""

_FLOATS = frozenset(dtype for dtype in BITS if dtype[:1] == "F") | {"BF16", "C64"}
"""Integers are what a quantised source has beside its floats; what the model makes of them is foreign to it."""

_WIDTHS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOrigin:
    """What became of the source's tensors. ``available`` says whether the source's weights are in the port."""

    name: ClassVar[str] = "onnx_origin"

    available: bool
    compared: int
    differing: tuple[str, ...]
    absent: tuple[str, ...]
    """Tensors of the source whose values nothing in the main graph has that the outputs are made from."""
    foreign: tuple[str, ...]
    """What the model stores and its outputs take the values of, and that is no tensor of the source."""
    optional: tuple[str, ...]
    """Nodes at which a tensor of the source may be left out."""
    too_large: tuple[str, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Compare digests of values; MissingFact where model or weights cannot be read, or the graph is not sound."""
        source = facts.get(Weights)
        if not source.complete:
            return cls(available=False, compared=0, differing=(), absent=(), foreign=(), optional=(), too_large=())
        graph = facts.get(OnnxGraph)
        if not facts.get(OnnxStructure).sound:
            raise MissingFact(f"{graph.path} is not a sound graph; see onnx-invalid.", at=Location(path=graph.path))
        stored = tuple(carriers(graph, _external(facts)))
        uniform = {c.name: c.uniform for c in stored if c.plain and c.uniform is not None}
        dependence = Dependence(graph.flow, graph.inputs, graph.outputs, uniform)
        carried = [c for c in stored if not dependence.used.isdisjoint(c.enters)]
        ours = {c.name: c for c in carried if c.plain and c.digest is not None}
        values = {c.digest for c in ours.values()}
        known: set[str] = set()
        differing, absent, too_large, compared = list[str](), list[str](), list[str](), 0
        for shard in source.shards:
            wanted = [t for t in shard.tensors if t.dtype in _FLOATS and not is_buffer(t)]
            too_large += [t.name for t in wanted if t.end - t.begin > TENSOR_MAX]
            kept = [t for t in wanted if t.end - t.begin <= TENSOR_MAX]
            compared += len(kept)
            start = PREFIX + int.from_bytes(facts.evidence.head(shard.path, PREFIX), "little")
            for tensor, data in _slices(facts.evidence.chunks(shard.path), start, kept):
                found = ours.get(tensor.name)
                forms = _digests(tensor, data)
                known |= forms
                if forms and found is not None and found.count == tensor.elements and found.digest not in forms:
                    differing.append(tensor.name)
                elif values.isdisjoint(forms):
                    absent.append(tensor.name)
        foreign = _foreign(dependence, carried, known, {*differing, *too_large})
        choices = dependence.choices(c.name for c in ours.values() if c.digest in known)
        return cls(
            available=True,
            compared=compared,
            differing=tuple(sorted(differing)),
            absent=tuple(sorted(absent)),
            foreign=tuple(sorted(set(foreign))),
            optional=tuple(op.title for op in choices),
            too_large=tuple(sorted(too_large)),
        )


def _foreign(
    dependence: Dependence, carried: Iterable[Carrier], known: AbstractSet[str], named: AbstractSet[str]
) -> Iterator[str]:
    """What is no tensor of the source; those that are ``named`` are reported otherwise."""
    few: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for carrier in carried:
        if carrier.digest in known or (carrier.plain and carrier.name in named):
            continue
        entry = carrier.enters[0]
        if carrier.count <= FEW:
            (few if carrier.name == entry else inside)[entry] += carrier.count
        elif carrier.name != entry or not dependence.rotates(entry):
            yield carrier.name
    yield from (entry for entry, count in inside.items() if count > FEW)
    for op in assembled(dependence.flow, few):
        if not dependence.used.isdisjoint(op.makes) and not dependence.rotates(op.makes[0]):
            yield op.makes[0]


def _external(facts: Facts) -> dict[str, str]:
    """The digests of the main graph's external initializers."""
    weights, digests = facts.get(OnnxWeights), facts.get(OnnxValues).digests
    extents = {e.tensor: (e.path, e.offset, e.length) for e in weights.external.extents}
    names = [
        text(s.proto.name) for s in weights.stored if s.external and s.role == "initializer" and s.where == "the graph"
    ]
    return {name: digests[extents[name]] for name in names if name in extents}


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
    """The digest of the values as float32, as they stand and transposed; none where float32 cannot hold them all."""
    import numpy as np  # noqa: PLC0415 - heavy

    values: Array
    if tensor.dtype == "BF16":
        values = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    elif tensor.dtype in _WIDTHS:
        stored = np.frombuffer(data, _WIDTHS[tensor.dtype])
        with np.errstate(over="ignore"):
            values = stored.astype("<f4", copy=False)
        if tensor.dtype == "F64" and not np.array_equal(values, stored, equal_nan=True):
            return set()
    else:
        return set()
    forms = [values, values.reshape(tensor.shape).T] if len(tensor.shape) == 2 else [values]
    return {hashlib.sha256(np.ascontiguousarray(form).tobytes()).hexdigest() for form in forms}
