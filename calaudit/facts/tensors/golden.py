"""The golden tensors of the reference, read again: shape, statistics and finiteness of what is really in the files.

A tensor is read once and let go; only what rules need stays. Of ``logits`` the highest values and the digest of
the bare values stay too: they must be those of ``outputs.jsonl``.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import Evidence
from calaudit.facts import Facts, internal
from calaudit.facts.tensors.index import GoldenTensors, TensorEntry, TensorKey
from calaudit.facts.tensors.npy import parse_npy

if TYPE_CHECKING:
    from calaudit.numerics import Array

LOGITS = "logits"
STATS = ("min", "max", "mean", "l2")
_TOP = 1000
"""As many logits as a step of ``outputs.jsonl`` may keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logits:
    """What a golden ``logits`` tensor says of its last position."""

    sha256: str
    """Of the little-endian float32 values of the last position."""
    top: tuple[tuple[int, float], ...]
    """The highest logits, descending; of equal ones the lowest id first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenTensor:
    """One tensor of the index as its file really is.

    ``missing`` says why the file could not be read, ``faulty`` why it is no tensor; what follows is then empty.
    ``stats`` are None where a value is not finite.
    """

    entry: TensorEntry
    missing: MissingFact | None = None
    faulty: str | None = None
    sha256: str = ""
    values_sha256: str = ""
    """Of the values alone: a header may be written in many ways."""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    stats: Mapping[str, float] | None = None
    logits: Logits | None = None

    @property
    def readable(self) -> bool:
        """Whether there are values."""
        return self.missing is None and self.faulty is None


@dataclass(frozen=True, kw_only=True)
class GoldenFact:
    """How much is golden."""

    name: ClassVar[str] = "golden"

    count: int
    unreadable: int
    boundaries: tuple[str, ...]
    samples: tuple[str, ...]
    tensors: tuple[GoldenTensor, ...] = internal()
    duplicates: tuple[TensorKey, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read every tensor of the index; MissingFact where the index is absent or does not follow its schema."""
        index = facts.get(GoldenTensors).index
        tensors = tuple(_read(facts.evidence, entry) for entry in index.tensors)
        return cls(
            count=len(tensors),
            unreadable=sum(not t.readable for t in tensors),
            boundaries=index.boundaries,
            samples=index.samples,
            tensors=tensors,
            duplicates=index.duplicates,
        )

    @cached_property
    def by_key(self) -> Mapping[TensorKey, GoldenTensor]:
        """The first tensor of each key."""
        return {t.entry.key: t for t in reversed(self.tensors)}


def _read(evidence: Evidence, entry: TensorEntry) -> GoldenTensor:
    try:
        found = evidence.entry(entry.path)
        data = evidence.read(entry.path)
    except MissingFact as missing:
        return GoldenTensor(entry=entry, missing=missing)
    try:
        values = parse_npy(data)
    except Malformed as error:
        return GoldenTensor(entry=entry, faulty=error.message, sha256=found.sha256)
    if values.size == 0 or values.dtype.kind != "f":
        return GoldenTensor(entry=entry, faulty="It holds no floating-point values.", sha256=found.sha256)
    from calaudit.numerics import stats_of  # noqa: PLC0415 - heavy

    stats = stats_of(values)
    return GoldenTensor(
        entry=entry,
        sha256=found.sha256,
        values_sha256=hashlib.sha256(values.tobytes()).hexdigest(),
        dtype=str(values.dtype),
        shape=values.shape,
        stats={name: getattr(stats, name) for name in STATS} if stats.finite else None,
        logits=read_logits(values) if stats.finite and entry.key.name == LOGITS else None,
    )


def read_logits(values: "Array") -> Logits:
    """Digest and highest values of the last position of a tensor of logits."""
    import numpy as np  # noqa: PLC0415 - heavy

    last = values.reshape(-1, values.shape[-1] if values.ndim else 1)[-1].astype(np.float32)
    order = np.argsort(-last, kind="stable")[:_TOP]
    return Logits(
        sha256=hashlib.sha256(last.astype("<f4").tobytes()).hexdigest(),
        top=tuple(zip(order.tolist(), last[order].tolist(), strict=True)),
    )
