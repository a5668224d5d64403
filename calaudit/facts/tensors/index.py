"""Tensor dumps: the index of a folder of ``.npy`` files, and reading one of them.

``01-reference/tensor-golden`` and ``02-onnx/tensors`` have one shape of index (``schemas/tensor-index/v1.json``). A
tensor is known by its key: name of the boundary, sample, profile and step.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast

from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import Evidence
from calaudit.facts import Facts, internal
from calaudit.facts.tensors.npy import parse_npy
from calaudit.model import Location

if TYPE_CHECKING:
    from calaudit.numerics import Array

GOLDEN_INDEX = "01-reference/tensor-golden/index.json"
ONNX_INDEX = "02-onnx/tensors/index.json"

Profile = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class TensorKey:
    """Which tensor: the same key names the same tensor on the reference side and on the ONNX side."""

    name: str
    sample_id: str
    profile: str
    step: int

    def __str__(self) -> str:
        return f"{self.name} of {self.sample_id}, {self.profile} step {self.step}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorEntry:
    """One entry of an index. ``path`` is port-relative; ``at`` its place in the index; ``stats`` as recorded."""

    key: TensorKey
    path: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str
    stats: dict[str, float]
    at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorIndex:
    """One index, in its order. ``duplicates`` are keys that stand there more than once."""

    path: str
    boundaries: tuple[str, ...]
    tensors: tuple[TensorEntry, ...] = internal()
    duplicates: tuple[TensorKey, ...] = internal()

    @property
    def by_key(self) -> dict[TensorKey, TensorEntry]:
        """The first entry of each key."""
        return {entry.key: entry for entry in reversed(self.tensors)}

    @property
    def samples(self) -> tuple[str, ...]:
        """The samples that have tensors, sorted."""
        return tuple(sorted({entry.key.sample_id for entry in self.tensors}))


def read_index(evidence: Evidence, path: str) -> TensorIndex:
    """Read an index document.

    Raises:
        MissingFact: it is absent, malformed or does not follow its schema.
    """
    document = cast("dict[str, list[dict[str, object]]]", evidence.document(path))
    folder = path.rpartition("/")[0]
    tensors = tuple(
        _entry(cast("dict[str, str]", raw), folder, Location(path=path, pointer=f"/tensors/{n}"))
        for n, raw in enumerate(document["tensors"])
    )
    counts = Counter(entry.key for entry in tensors)
    return TensorIndex(
        path=path,
        boundaries=tuple(str(name) for name in document["boundaries"]),
        tensors=tensors,
        duplicates=tuple(sorted(key for key, count in counts.items() if count > 1)),
    )


def _entry(raw: dict[str, str], folder: str, at: Location) -> TensorEntry:
    key = TensorKey(name=raw["name"], sample_id=raw["sample_id"], profile=raw["profile"], step=int(raw["step"]))
    shape = cast("list[int]", raw["shape"])
    stats = cast("dict[str, float]", raw["stats"])
    return TensorEntry(
        key=key,
        path=f"{folder}/{raw['path']}",
        dtype=raw["dtype"],
        shape=tuple(int(n) for n in shape),
        sha256=raw["sha256"],
        stats={name: float(value) for name, value in stats.items()},
        at=at,
    )


def read_tensor(evidence: Evidence, entry: TensorEntry) -> "Array":
    """The values of a tensor: bytes whose digest was checked, dtype and shape as its index says.

    Raises:
        MissingFact: the file is absent, or its digest is not the one of the index.
        Malformed: it is no such tensor.
    """
    found = evidence.entry(entry.path)
    if found.sha256 != entry.sha256:
        raise MissingFact(f"{entry.path} has not the digest that its index records; write both anew.", at=entry.at)
    try:
        values = parse_npy(evidence.read(entry.path))
    except Malformed as error:
        raise Malformed(f"{entry.path}: {error.message}") from error
    if str(values.dtype) != entry.dtype or values.shape != entry.shape:
        raise Malformed(
            f"{entry.path} holds {values.dtype}{list(values.shape)}, but its index says "
            f"{entry.dtype}{list(entry.shape)}; write both anew."
        )
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenTensors:
    """The tensors of the reference (G1)."""

    name: ClassVar[str] = "golden_tensors"

    index: TensorIndex

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read ``01-reference/tensor-golden/index.json``."""
        return cls(index=read_index(facts.evidence, GOLDEN_INDEX))


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxTensors:
    """The tensors of the ONNX run (G2)."""

    name: ClassVar[str] = "onnx_tensors"

    index: TensorIndex

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read ``02-onnx/tensors/index.json``."""
        return cls(index=read_index(facts.evidence, ONNX_INDEX))
