"""The strict .npy reader: what NumPy writes is read, everything else refused."""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from calaudit.errors import Malformed
from calaudit.facts.tensors.npy import parse_npy


def saved(array: np.ndarray, **kwargs: object) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **kwargs)
    return buffer.getvalue()


@given(hnp.arrays(st.sampled_from(["<f4", "<f8", "<f2", "<i8", "u1", "?"]), hnp.array_shapes(min_dims=0, min_side=0)))
def test_what_numpy_writes(array: np.ndarray) -> None:
    found = parse_npy(saved(np.ascontiguousarray(array).reshape(array.shape)))
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()


@given(st.binary(max_size=200))
def test_garbage_is_malformed(data: bytes) -> None:
    for raw in (data, b"\x93NUMPY" + data, b"\x93NUMPY\x01\x00" + data):
        with pytest.raises(Malformed):
            parse_npy(raw)


@given(st.integers(0, 140), st.integers(0, 255))
def test_a_changed_byte_never_crashes(at: int, value: int) -> None:
    data = bytearray(saved(np.arange(3, dtype="<f4")))
    data[at % len(data)] = value
    with contextlib.suppress(Malformed):
        parse_npy(bytes(data))


@pytest.mark.parametrize(
    "data",
    [
        saved(np.array([1, "a"], dtype=object), allow_pickle=True),
        saved(np.asfortranarray(np.ones((2, 3), "<f4"))),
        saved(np.ones(3, ">f4")),
        saved(np.ones(3, "<f4"))[:-1],
        saved(np.ones(3, "<f4")) + b"\0",
        saved(np.zeros(2, [("a", "<f4")])),
        saved(np.ones(3, "<f4"), version=(3, 0)),
    ],
)
def test_what_is_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        parse_npy(data)


@pytest.mark.parametrize("shape", ["(-1,)", "(1.0,)", "[3]", "3", "(True,)", "(99999999999999999999,)"])
def test_shapes_that_are_none(shape: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    with pytest.raises(Malformed):
        parse_npy(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 12)


def test_a_deep_header_is_malformed() -> None:
    header = b"(" * 4000
    with pytest.raises(Malformed):
        parse_npy(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
