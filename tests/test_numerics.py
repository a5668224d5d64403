"""The blocked kernels give exactly what float64 over whole arrays gives; NaN and infinity never pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from calaudit.finite import FiniteCounter, count_nan, count_nonfinite
from calaudit.numerics import BLOCK, compare, stats_of, usable_tolerance

ANY = st.floats(width=32, allow_nan=True, allow_infinity=True)
PAIRS = hnp.array_shapes(max_dims=1, max_side=40).flatmap(
    lambda shape: st.tuples(hnp.arrays("<f4", shape, elements=ANY), hnp.arrays("<f4", shape, elements=ANY))
)


def naive(a: np.ndarray, b: np.ndarray, atol: float, rtol: float) -> tuple[int, float]:
    p, q = a.astype(np.float64), b.astype(np.float64)
    both = np.isfinite(p) & np.isfinite(q)
    with np.errstate(all="ignore"):
        delta = np.abs(p - q)
        inside = both & (delta <= atol + rtol * np.abs(q))
    return int((~inside).sum()), float(delta[both].max(initial=0.0))


@given(PAIRS, st.sampled_from([1e-4, 1e-8, 1e-35, 1.0]), st.sampled_from([1e-3, 1e-7, 0.5]))
def test_compare_is_the_float64_answer(pair: tuple[np.ndarray, np.ndarray], atol: float, rtol: float) -> None:
    found = compare(*pair, atol=atol, rtol=rtol)
    assert (found.violations, found.max_abs) == naive(*pair, atol, rtol)
    assert found.within == (found.violations == 0)


@given(st.integers(0, 2**32 - 1), st.integers(-3, 3))
def test_the_edge_of_the_tolerance(bits: int, steps: int) -> None:
    reference = np.array([bits], np.uint32).view(np.float32)
    if not np.isfinite(reference[0]):
        return
    edge = np.float32(np.float64(reference[0]) + 1e-4 + 1e-3 * abs(np.float64(reference[0])))
    for _ in range(abs(steps)):
        edge = np.nextafter(edge, np.float32(np.inf if steps > 0 else -np.inf))
    left = np.array([edge], np.float32)
    assert compare(left, reference, atol=1e-4, rtol=1e-3).violations == naive(left, reference, 1e-4, 1e-3)[0]


@pytest.mark.parametrize("at", [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 7])
def test_worst_and_first_are_found_in_any_block(at: int) -> None:
    reference = np.zeros(3 * BLOCK, np.float32)
    left = reference.copy()
    left[at] = 3.0
    found = compare(left, reference, atol=1e-4, rtol=1e-3)
    assert (found.first, found.worst, found.violations, found.max_abs) == (at, at, 1, 3.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite_on_both_sides_is_no_agreement(bad: float) -> None:
    both = np.array([1.0, bad], np.float32)
    found = compare(both, both.copy(), atol=1e-4, rtol=1e-3)
    assert not found.within
    assert found.nonfinite == (1, 1)


def test_nothing_compared_is_no_agreement() -> None:
    empty = np.zeros((0, 4), np.float32)
    assert not compare(empty, empty, atol=1e-4, rtol=1e-3).within


@pytest.mark.parametrize("atol", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("rtol", [0.0, -1.0, np.nan, np.inf, 1.0])
def test_tolerances_that_cannot_reject(atol: float, rtol: float) -> None:
    assert not usable_tolerance(atol, 1e-3)
    assert not usable_tolerance(1e-4, rtol)
    with pytest.raises(ValueError, match="no tolerance"):
        compare(np.zeros(1), np.zeros(1), atol=atol, rtol=1e-3)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="differ"):
        compare(np.zeros((2, 1)), np.zeros((1, 2)), atol=1e-4, rtol=1e-3)


def test_other_types_compare_in_float64() -> None:
    assert compare(np.array([1.0, 2.0]), np.array([1.0, 2.5]), atol=1e-4, rtol=1e-3).max_abs == 0.5


@given(hnp.arrays("<f4", hnp.array_shapes(max_dims=2), elements=st.floats(-1e6, 1e6, width=32)))
def test_statistics(values: np.ndarray) -> None:
    found = stats_of(values)
    wide = values.astype(np.float64)
    assert (found.min, found.max) == (wide.min(), wide.max())
    assert found.mean == pytest.approx(wide.mean(), rel=1e-9, abs=1e-9)
    assert found.l2 == pytest.approx(np.sqrt((wide**2).sum()), rel=1e-9)


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf]])
def test_statistics_of_nothing(values: list[float]) -> None:
    assert not stats_of(np.array(values, np.float32)).finite


TYPES = ["float16", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]


@pytest.mark.parametrize("name", TYPES)
def test_every_pattern_of_the_small_floats(name: str) -> None:
    import ml_dtypes

    dtype = np.dtype(np.float16 if name == "float16" else getattr(ml_dtypes, name))
    bits = np.arange(1 << 8 * dtype.itemsize, dtype=f"<u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        wide = bits.view(dtype).astype(np.float64)
    ours = name.replace("8_", "8").removesuffix("fnu") if name.endswith("e8m0fnu") else name.replace("8_", "8")
    assert count_nonfinite(ours, bits.tobytes()) == int((~np.isfinite(wide)).sum())
    assert count_nan(ours, bits.tobytes()) == int(np.isnan(wide).sum())


@given(
    st.binary(max_size=64), st.lists(st.integers(1, 9), min_size=1, max_size=30), st.sampled_from([1, 10, 11, 14, 15])
)
def test_chunks_may_cut_values(data: bytes, cuts: list[int], number: int) -> None:
    width = {1: 4, 10: 2, 11: 8, 14: 4, 15: 8}[number]
    data = data[: len(data) - len(data) % width]
    counter = FiniteCounter.of(number)
    assert counter is not None
    rest = memoryview(data)
    for cut in cuts * 64:
        counter.feed(rest[:cut])
        rest = rest[cut:]
    assert (counter.nonfinite, counter.nan) == (count_nonfinite(counter.name, data), count_nan(counter.name, data))
