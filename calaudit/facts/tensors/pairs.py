"""The tensors that exist on both sides, reference and ONNX run, and how they differ; each pair is compared once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import Evidence
from calaudit.facts import Facts, internal
from calaudit.facts.tensors.index import GoldenTensors, OnnxTensors, TensorEntry, read_tensor
from calaudit.model import Location

if TYPE_CHECKING:
    from calaudit.numerics import Array, Comparison

_Key = tuple[str, str, float, float]


@dataclass(frozen=True, kw_only=True)
class TensorPairs:
    """Every key of both indexes; ``pairs`` holds the tensor of the ONNX run first, then its golden."""

    name: ClassVar[str] = "tensor_pairs"

    golden: int
    onnx: int
    both: int
    pairs: tuple[tuple[TensorEntry, TensorEntry], ...] = internal()
    evidence: Evidence = internal()
    _known: "dict[_Key, Comparison | str]" = internal(default_factory=dict)
    _differences: dict[tuple[str, str], float | None] = internal(default_factory=dict)
    _equal: dict[tuple[str, str], float] = internal(default_factory=dict)

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Match the indexes; MissingFact where one is absent or faulty."""
        golden, onnx = facts.get(GoldenTensors).index.by_key, facts.get(OnnxTensors).index.by_key
        pairs = tuple((onnx[key], wanted) for key, wanted in golden.items() if key in onnx)
        return cls(golden=len(golden), onnx=len(onnx), both=len(pairs), pairs=pairs, evidence=facts.evidence)

    def compare(self, found: TensorEntry, wanted: TensorEntry, atol: float, rtol: float) -> "Comparison | str":
        """How two tensors differ, or in words why they cannot be compared.

        Raises:
            MissingFact: a file is absent or is not the one of its index.
        """
        key = (found.path, wanted.path, atol, rtol)
        if key not in self._known:
            self._known[key] = self._compare(found, wanted, atol, rtol)
        return self._known[key]

    def _compare(self, found: TensorEntry, wanted: TensorEntry, atol: float, rtol: float) -> "Comparison | str":
        from calaudit.numerics import compare  # noqa: PLC0415 - heavy

        try:
            left, right = read_tensor(self.evidence, found), read_tensor(self.evidence, wanted)
        except Malformed as error:
            return error.message.removesuffix(".")
        if left.dtype != right.dtype or left.shape != right.shape:
            return f"{found.key} has another type or shape"
        result = compare(left, right, atol=atol, rtol=rtol)
        self._equal[found.path, wanted.path] = _equal_share(left, right)
        finite = result.count > 0 and not any(result.nonfinite)
        self._differences[found.path, wanted.path] = result.max_abs if finite else None
        return result

    def max_abs(self, found: TensorEntry, wanted: TensorEntry) -> float | None:
        """The largest difference; None where the tensors cannot be compared or hold NaN or infinity.

        Raises:
            MissingFact: a file is absent or is not the one of its index.
        """
        key = (found.path, wanted.path)
        if key not in self._differences:
            self.compare(found, wanted, 1.0, 0.5)  # any tolerance: only the difference is asked for
        return self._differences.get(key)

    def values(self, entry: TensorEntry) -> "Array":
        """The values of one tensor.

        Raises:
            MissingFact: they cannot be had, for whatever reason.
        """
        try:
            return read_tensor(self.evidence, entry)
        except Malformed as error:
            raise MissingFact(error.message, at=Location(path=entry.path)) from error

    def argmax(self, entry: TensorEntry) -> int:
        """Where the highest value stands, the first of equal ones.

        Raises:
            MissingFact: as :meth:`values`.
        """
        return int(self.values(entry).reshape(-1).argmax())

    def equal_share(self, one: TensorEntry, other: TensorEntry) -> float:
        """The share of places at which two tensors have the same value; 0 where their shapes differ.

        Raises:
            MissingFact: as :meth:`values`.
        """
        key = one.path, other.path
        if key not in self._equal:
            self._equal[key] = _equal_share(self.values(one), self.values(other))
        return self._equal[key]


def _equal_share(left: "Array", right: "Array") -> float:
    return float((left == right).mean()) if left.shape == right.shape and left.size > 0 else 0.0
