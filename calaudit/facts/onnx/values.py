"""The values of the model's tensors: one pass for NaN, infinities, checksums and hidden bytes.

External files are streamed through the evidence station, which compares their digest at the end: what was found in
bytes that changed meanwhile is thrown away.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.onnx.extents import Extent
from calaudit.facts.onnx.proto import MODEL, scopes, text
from calaudit.facts.onnx.stream import stream
from calaudit.facts.onnx.types import ELEMENT_TYPES, count_values, type_name
from calaudit.facts.onnx.weights import OnnxWeights, Stored, data_files, storage_problem
from calaudit.model import Location

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

_FLOAT, _FLOATS = 1, 6
"""``AttributeProto.AttributeType``."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Nonfinite:
    """How many values of a tensor are not finite (``count``), and how many of these are NaN."""

    path: str
    title: str
    count: int
    nan: int
    values: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksummed:
    """The SHA-1 that the model records for a tensor, and what the tensor's bytes and the whole file have."""

    extent: Extent
    slice_sha1: str
    file_sha1: str

    @property
    def agrees(self) -> bool:
        """Whether it fits: the ONNX specification says the file's digest, exporters write the tensor's."""
        return self.extent.checksum in (self.slice_sha1, self.file_sha1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxValues:
    """What the values of the tensors are like. ``hidden`` are paddings that are not zero: path, offset, length."""

    name: ClassVar[str] = "onnx_values"

    float_tensors: int
    nonfinite_tensors: int
    nonfinite: tuple[Nonfinite, ...] = internal()
    checksums: tuple[Checksummed, ...] = internal()
    hidden: tuple[tuple[str, int, int], ...] = internal()
    digests: dict[tuple[str, int, int], str] = internal()
    """The SHA-256 of every extent: path, offset, length."""

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read all values; MissingFact where external extents are unsound or a file cannot be read again."""
        weights = facts.get(OnnxWeights)
        external = weights.external
        if overlaps := external.of("external-data-overlaps"):
            told = f"External tensors overlap, so their values are not read: {overlaps[0].message}"
            raise MissingFact(told, at=Location(path=MODEL))
        found: list[Nonfinite] = []
        floats = 0
        for stored in weights.stored:
            if not stored.external:
                floats += _inline(stored, found)
        checksums: list[Checksummed] = []
        hidden: list[tuple[str, int, int]] = []
        digests: dict[tuple[str, int, int], str] = {}
        sizes = data_files(facts.evidence)
        for path in sorted({e.path for e in external.extents}):
            extents = [e for e in external.extents if e.path == path]
            seen = stream(facts.evidence.chunks(path), sizes[path], extents)
            hidden += [(path, offset, length) for offset, length in seen.hidden]
            for extent in extents:
                slice_ = seen.slices[extent.offset, extent.length]
                digests[path, extent.offset, extent.length] = slice_.sha256
                if extent.checksum is not None:
                    checksums.append(Checksummed(extent=extent, slice_sha1=slice_.sha1, file_sha1=seen.sha1))
                floats += slice_.floats
                if slice_.nonfinite:
                    found.append(_external(extent, slice_.nonfinite, slice_.nan))
        return cls(
            float_tensors=floats,
            nonfinite_tensors=len(found),
            nonfinite=tuple(sorted(found)),
            checksums=tuple(checksums),
            hidden=tuple(hidden),
            digests=digests,
        )


def nan_attributes(model: "ModelProto") -> tuple[str, ...]:
    """The float attributes of nodes that are NaN, in words."""
    return tuple(
        f"attribute {text(attribute.name)} of {text(node.op_type)} {text(node.name)!r} in {scope.where}"
        for scope in scopes(model)
        for node in scope.nodes
        for attribute in node.attribute
        if (attribute.type == _FLOAT and math.isnan(attribute.f))
        or (attribute.type == _FLOATS and any(math.isnan(v) for v in attribute.floats))
    )


def inline_bytes(proto: "TensorProto") -> bytes:
    """The values of an inline float tensor as little-endian bytes, from whichever field holds them."""
    import numpy as np  # noqa: PLC0415 - heavy

    if proto.raw_data:
        return proto.raw_data
    if len(proto.float_data):
        return np.array(proto.float_data, dtype="<f4").tobytes()
    if len(proto.double_data):
        return np.array(proto.double_data, dtype="<f8").tobytes()
    wide = ELEMENT_TYPES[proto.data_type].bits == 16
    patterns = np.array(proto.int32_data, dtype=np.int64) & (0xFFFF if wide else 0xFF)
    return patterns.astype("<u2" if wide else "u1").tobytes()


def _inline(stored: Stored, found: list[Nonfinite]) -> int:
    from calaudit.finite import FiniteCounter  # noqa: PLC0415 - heavy

    counter = FiniteCounter.of(stored.proto.data_type)
    if counter is None or storage_problem(stored.proto) is not None:
        return 0
    counter.feed(memoryview(inline_bytes(stored.proto)))
    if counter.nonfinite:
        values = count_values(tuple(stored.proto.dims)) or 0
        found.append(Nonfinite(path=MODEL, title=stored.title, count=counter.nonfinite, nan=counter.nan, values=values))
    return 1


def _external(extent: Extent, count: int, nan: int) -> Nonfinite:
    title = f"tensor {extent.tensor!r} ({type_name(extent.dtype)}{list(extent.dims)}, at byte {extent.offset})"
    return Nonfinite(path=extent.path, title=title, count=count, nan=nan, values=count_values(extent.dims) or 0)
