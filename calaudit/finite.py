"""Whether floating-point values are finite, straight from their bytes; every float type of ONNX, without converting."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from calaudit.facts.onnx.types import ELEMENT_TYPES

_BLOCK = 1 << 18
"""Bytes judged at once: fits the cache together with its mask."""

_MASKS = {"float16": 0x7C00, "bfloat16": 0x7F80, "float8e5m2": 0x7C}
"""IEEE-like types: all exponent bits set means infinity or NaN."""

_EXACT = {
    "float8e4m3fn": (0x7F, 0xFF),
    "float8e4m3fnuz": (0x80,),
    "float8e5m2fnuz": (0x80,),
    "float8e8m0": (0xFF,),
}
"""Types without infinities: the bit patterns of NaN."""

_NATIVE = {"float32": "<f4", "float64": "<f8", "complex64": "<f4", "complex128": "<f8"}

FLOATS = frozenset(_MASKS) | frozenset(_EXACT) | frozenset(_NATIVE)
"""Names of the element types that have a NaN; float4e2m1 has neither NaN nor infinity."""


def count_nonfinite(name: str, data: bytes | memoryview) -> int:
    """How many NaN and infinities little-endian values of a float type hold; ``data`` has whole values."""
    return _count(name, data, nan_only=False)


def count_nan(name: str, data: bytes | memoryview) -> int:
    """How many NaN there are; infinities do not count."""
    return _count(name, data, nan_only=True)


def _count(name: str, data: bytes | memoryview, *, nan_only: bool) -> int:
    view, total = memoryview(data), 0
    for at in range(0, len(view), _BLOCK):
        total += _count_block(name, view[at : at + _BLOCK], nan_only=nan_only)
    return total


def _count_block(name: str, block: memoryview, *, nan_only: bool) -> int:
    if name in _NATIVE:
        values: npt.NDArray[np.floating] = np.frombuffer(block, dtype=_NATIVE[name])
        if nan_only:
            return int(np.count_nonzero(np.isnan(values)))
        return int(values.size - np.count_nonzero(np.isfinite(values)))
    bits = np.frombuffer(block, dtype="<u2" if name in ("float16", "bfloat16") else "u1")
    if name in _MASKS:
        mask = _MASKS[name]
        if not nan_only:
            return int(np.count_nonzero((bits & mask) == mask))
        sign = 0x8000 if bits.dtype.itemsize == 2 else 0x80
        return int(np.count_nonzero((bits & (sign - 1)) > mask))
    return sum(int(np.count_nonzero(bits == pattern)) for pattern in _EXACT.get(name, ()))


@dataclass(slots=True)
class FiniteCounter:
    """Counts over a stream of chunks that may cut values in two."""

    name: str
    nonfinite: int = 0
    nan: int = 0
    _rest: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, number: int) -> "FiniteCounter | None":
        """A counter for an element type by its ONNX number; None where the type has only finite values."""
        known = ELEMENT_TYPES.get(number)
        return cls(known.name) if known is not None and known.name in FLOATS else None

    def feed(self, chunk: memoryview) -> None:
        """Take the next bytes."""
        width = _WIDTHS[self.name]
        if self._rest:
            missing = width - len(self._rest)
            self._rest += bytes(chunk[:missing])
            chunk = chunk[missing:]
            if len(self._rest) < width:
                return
            self._take(memoryview(self._rest))
        cut = len(chunk) - len(chunk) % width
        self._take(chunk[:cut])
        self._rest = bytes(chunk[cut:])

    def _take(self, whole: memoryview) -> None:
        bad = count_nonfinite(self.name, whole)
        self.nonfinite += bad
        if bad:
            self.nan += count_nan(self.name, whole)


_WIDTHS = {t.name: {"complex64": 4, "complex128": 8}.get(t.name, (t.bits or 8) // 8) for t in ELEMENT_TYPES.values()}
