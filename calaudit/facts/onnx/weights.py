"""The tensors stored in or beside the model: where each one's values are, and whether that is possible.

Covers initializers and attribute tensors of the graph, its subgraphs and functions. Only sizes are looked at here;
values are :mod:`calaudit.facts.onnx.values`'.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.evidence import Evidence
from calaudit.facts import Facts, internal
from calaudit.facts.onnx.extents import ExternalData, ExternalTensor, Fault, check_external_data
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.proto import scopes, tensors, text
from calaudit.facts.onnx.types import ELEMENT_TYPES, count_bytes, count_values, type_name
from calaudit.model import Format

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

FOLDER = "02-onnx"
_EXTERNAL = 1
"""``TensorProto.DataLocation.EXTERNAL``."""

_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One tensor of the model; ``role`` is initializer, sparse or attribute."""

    role: str
    where: str
    proto: "TensorProto"

    @property
    def external(self) -> bool:
        """Whether its values stand in another file."""
        return self.proto.data_location == _EXTERNAL

    @property
    def title(self) -> str:
        """The tensor in words."""
        dims = list(self.proto.dims)
        return f"{self.role} {text(self.proto.name)!r} ({type_name(self.proto.data_type)}{dims}, {self.where})"


def stored_tensors(model: "ModelProto") -> Iterator[Stored]:
    """Every tensor of a model, subgraphs and functions included."""
    for scope in scopes(model):
        for role, proto in tensors(scope):
            yield Stored(role=role, where=scope.where, proto=proto)


def external_tensor(stored: Stored) -> ExternalTensor:
    """What the model says about the external values of a tensor."""
    return ExternalTensor(
        name=text(stored.proto.name),
        where=stored.where,
        dtype=stored.proto.data_type,
        dims=tuple(stored.proto.dims),
        entries=tuple((text(e.key), text(e.value)) for e in stored.proto.external_data),
    )


def storage_problem(proto: "TensorProto") -> str | None:
    """What is wrong with values that are stored in the model, or with where they are said to be."""
    used = [name for name in _FIELDS if len(getattr(proto, name))]
    used += ["raw_data"] if proto.raw_data else []
    if proto.HasField("segment"):
        return "is split in segments, which nothing reads"
    if proto.data_location == _EXTERNAL:
        return f"is external and has {used[0]} too" if used else None
    if len(proto.external_data):
        return "names external data, but its data_location is not EXTERNAL: two readings of one tensor"
    known, values = ELEMENT_TYPES.get(proto.data_type), count_values(tuple(proto.dims))
    if known is None:
        return f"has the element type {proto.data_type}, which calaudit does not know"
    if values is None:
        return "has a negative dim, or dims whose product is no number of values"
    if len(used) > 1:
        return f"has values in {' and '.join(used)}: two readings of one tensor"
    if used and used[0] not in ("raw_data", known.field):
        return f"keeps its values in {used[0]}; {known.name} belongs into raw_data or {known.field}"
    if used == ["raw_data"]:
        need = count_bytes(proto.data_type, tuple(proto.dims))
        have = len(proto.raw_data)
        return None if have == need else f"has {have} bytes of raw_data; its shape and type need {need}"
    per = known.per_entry
    need = values * -per if per < 0 else -(-values // per)
    have = len(getattr(proto, known.field))
    return None if have == need else f"has {have} entries in {known.field}; its shape and type need {need}"


def data_files(evidence: Evidence) -> dict[str, int]:
    """The regular files of gate G2 that may hold tensor data, with their sizes in bytes."""
    return {
        entry.path: entry.size
        for entry in evidence.of_gate("G2")
        if entry.spec is not None and entry.spec.format is Format.OPAQUE
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxWeights:
    """How many tensors the model stores, and where."""

    name: ClassVar[str] = "onnx_weights"

    tensors: int
    external_tensors: int
    external_bytes: int
    external_files: tuple[str, ...]
    data_files: tuple[str, ...]
    stored: tuple[Stored, ...] = internal()
    external: ExternalData = internal()
    inline_faults: tuple[Fault, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Look at every tensor of the model; MissingFact where there is no readable model."""
        model = facts.get(OnnxGraph).model
        sizes = data_files(facts.evidence)
        stored = tuple(stored_tensors(model))
        external = check_external_data([external_tensor(s) for s in stored if s.external], sizes, FOLDER)
        inline = [(s, storage_problem(s.proto)) for s in stored]
        distinct = {(e.path, e.offset, e.length) for e in external.extents}
        return cls(
            tensors=len(stored),
            external_tensors=sum(s.external for s in stored),
            external_bytes=sum(length for _, _, length in distinct),
            external_files=external.paths,
            data_files=tuple(sorted(sizes)),
            stored=stored,
            external=external,
            inline_faults=tuple(
                Fault(rule="onnx-invalid", message=f"The {s.title} {problem}.") for s, problem in inline if problem
            ),
        )
