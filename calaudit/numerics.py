"""Comparison and statistics of tensors: blocked numpy kernels that fit the cache, exact where it matters.

Differences and tolerances are defined in float64: ``|a - b| <= atol + rtol * |b|`` with ``b`` the reference. A block
is first judged in float32 with a margin larger than its rounding errors; only a block that this cannot clear is
judged again in float64, so the answer is the float64 answer. NaN and infinity never pass, on either side.

The module imports numpy; facts and checks import it inside their functions.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
Float64 = npt.NDArray[np.float64]

BLOCK = 1 << 16
"""Elements a block: two operands and two temporaries of float32 stay inside the L2 cache."""

_MARGIN = 1e-6
"""Above the relative rounding errors of the float32 screen (about 4 * 2**-24)."""

_TINY = 1e-30
"""An absolute tolerance below this is near float32's subnormals: no screen, float64 at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two tensors of one shape differ.

    ``max_abs`` is the largest ``|a - b|`` over pairs that are finite on both sides (0.0 where there is none) and
    ``worst`` its flat index; ``violations`` counts pairs outside the tolerance, pairs that are not finite included,
    and ``first`` is the flat index of the first. ``nonfinite`` counts NaN and infinities on the left and on the
    right.
    """

    count: int
    max_abs: float
    worst: int | None
    violations: int
    first: int | None
    nonfinite: tuple[int, int]

    @property
    def within(self) -> bool:
        """Whether something was compared and all of it is within the tolerance."""
        return self.count > 0 and self.violations == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Minimum, maximum, mean and Euclidean norm, in float64; NaN where a value is not finite or there is none."""

    min: float
    max: float
    mean: float
    l2: float
    finite: bool


def usable_tolerance(atol: float, rtol: float) -> bool:
    """Whether a tolerance can reject something: both finite and positive, and relative below one."""
    return math.isfinite(atol) and math.isfinite(rtol) and atol > 0 and 0 < rtol < 1


def compare(left: Array, right: Array, *, atol: float, rtol: float) -> Comparison:
    """Compare two tensors of one shape, ``right`` being the reference.

    Raises:
        ValueError: the shapes differ, or the tolerance could not reject anything.
    """
    if left.shape != right.shape:
        raise ValueError(f"shapes {left.shape} and {right.shape} differ")
    if not usable_tolerance(atol, rtol):
        raise ValueError(
            f"atol {atol} and rtol {rtol} are no tolerance: both must be finite and positive, rtol below 1"
        )
    a, b = np.ascontiguousarray(left).reshape(-1), np.ascontiguousarray(right).reshape(-1)
    screen = a.dtype == b.dtype == np.float32 and atol >= _TINY
    state = _State(atol, rtol)
    with np.errstate(all="ignore"):
        for start in range(0, a.size, BLOCK):
            x, y = a[start : start + BLOCK], b[start : start + BLOCK]
            if not screen or not _clears(state, x, y, start):
                _exact(state, x, y, start)
    return Comparison(
        count=int(a.size),
        max_abs=max(state.best, 0.0),
        worst=state.worst,
        violations=state.violations,
        first=state.first,
        nonfinite=(state.left, state.right),
    )


class _State:
    def __init__(self, atol: float, rtol: float) -> None:
        self.atol, self.rtol = atol, rtol
        self.delta, self.bound = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
        self.best = -1.0
        self.worst: int | None = None
        self.violations = 0
        self.first: int | None = None
        self.left = 0
        self.right = 0


def _clears(state: _State, x: Array, y: Array, start: int) -> bool:
    """Judge a float32 block with a margin; False where float64 has to decide."""
    delta, bound = state.delta[: x.size], state.bound[: x.size]
    np.subtract(x, y, out=delta)
    largest = max(float(delta.max()), -float(delta.min()))
    if not math.isfinite(largest):  # also when both are finite and the difference overflows
        return False
    if largest > state.atol * (1 - _MARGIN):
        np.abs(delta, out=delta)
        np.abs(y, out=bound)
        np.multiply(bound, np.float32(state.rtol * (1 - _MARGIN)), out=bound)
        np.add(bound, np.float32(state.atol * (1 - _MARGIN)), out=bound)
        if not bool((delta <= bound).all()):
            return False
    if largest >= float(np.float32(state.best)):
        where = np.flatnonzero(np.abs(delta) == np.float32(largest))
        _improve(state, np.abs(x[where].astype(np.float64) - y[where].astype(np.float64)), where, start)
    return True


def _exact(state: _State, x: Array, y: Array, start: int) -> None:
    p, q = x.astype(np.float64), y.astype(np.float64)
    finite_p, finite_q = np.isfinite(p), np.isfinite(q)
    state.left += int(p.size - np.count_nonzero(finite_p))
    state.right += int(q.size - np.count_nonzero(finite_q))
    both = finite_p & finite_q
    delta = np.abs(p - q)
    bad = np.flatnonzero(~(both & (delta <= state.atol + state.rtol * np.abs(q))))
    if bad.size:
        state.violations += int(bad.size)
        if state.first is None:
            state.first = start + int(bad[0])
    where = np.flatnonzero(both)
    if where.size:
        _improve(state, delta[where], where, start)


def _improve(state: _State, delta: Float64, where: npt.NDArray[np.intp], start: int) -> None:
    at = int(delta.argmax())
    if float(delta[at]) > state.best:
        state.best, state.worst = float(delta[at]), start + int(where[at])


def stats_of(array: Array) -> Stats:
    """The statistics of a tensor: sums in float64 a block, added up exactly."""
    flat = np.ascontiguousarray(array).reshape(-1)
    low, high, finite = math.inf, -math.inf, flat.size > 0
    sums, squares = [], []
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, BLOCK):
            block = flat[start : start + BLOCK].astype(np.float64)
            total = float(block.sum())
            if not math.isfinite(total) and not bool(np.isfinite(block).all()):
                finite = False
                break
            low, high = min(low, float(block.min())), max(high, float(block.max()))
            sums.append(total)
            # Not a dot product: BLAS adds in an order, and with a number of threads, that depend on the machine.
            squares.append(float(np.square(block, out=block).sum()))
    if not finite:
        return Stats(min=math.nan, max=math.nan, mean=math.nan, l2=math.nan, finite=False)
    return Stats(min=low, max=high, mean=math.fsum(sums) / flat.size, l2=math.sqrt(math.fsum(squares)), finite=True)
