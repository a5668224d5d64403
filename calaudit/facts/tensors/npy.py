"""NumPy's ``.npy`` format, read strictly: no pickles, no Fortran order, exactly the bytes that the header promises.

Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html (versions 1.0 and 2.0).
"""

import ast
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from calaudit.errors import Malformed

if TYPE_CHECKING:
    from calaudit.numerics import Array

_MAGIC = b"\x93NUMPY"
_HEADER_MAX = 4096
_RANK_MAX = 32
"""Dimensions of an array in every version of NumPy."""
_DTYPES = {
    "<f4": "float32",
    "<f8": "float64",
    "<f2": "float16",
    "<i8": "int64",
    "<i4": "int32",
    "<i2": "int16",
    "|i1": "int8",
    "|u1": "uint8",
    "|b1": "bool",
}
_SIZES = {
    "float32": 4,
    "float64": 8,
    "float16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NpyHeader:
    """What the header of a ``.npy`` file says; ``offset`` is where the values start, in bytes."""

    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def count(self) -> int:
        """The number of values."""
        return math.prod(self.shape)


def read_header(data: bytes) -> NpyHeader:
    """Read the header and check that the file holds exactly the values it promises.

    Raises:
        Malformed: the bytes are not such a file.
    """
    if data[:6] != _MAGIC or len(data) < 12:
        raise Malformed("Not a .npy file: it does not start with NumPy's magic bytes.")
    version = (data[6], data[7])
    if version not in ((1, 0), (2, 0)):
        raise Malformed(f"The .npy format version is {version[0]}.{version[1]}; expected 1.0 or 2.0.")
    start = 10 if version == (1, 0) else 12
    length = int.from_bytes(data[8:start], "little")
    if length > _HEADER_MAX or start + length > len(data):
        raise Malformed(f"The .npy header claims {length} bytes; expected at most {_HEADER_MAX} and inside the file.")
    dtype, shape = _fields(data[start : start + length])
    header = NpyHeader(dtype=dtype, shape=shape, offset=start + length)
    expected = header.offset + header.count * _SIZES[dtype]
    if len(data) != expected:
        raise Malformed(f"The .npy file has {len(data)} bytes, but {dtype}{list(shape)} needs exactly {expected}.")
    return header


def parse_npy(data: bytes) -> "Array":
    """The values of a ``.npy`` file: a read-only array over ``data``, without a copy.

    Raises:
        Malformed: the bytes are not a strict ``.npy`` file.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    header = read_header(data)
    values: Array = np.frombuffer(data, dtype=np.dtype(header.dtype).newbyteorder("<"), offset=header.offset)
    return values.reshape(header.shape)


def _literal(raw: bytes) -> object:
    try:
        return ast.literal_eval(raw.decode("latin-1").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise Malformed("The .npy header is not a Python literal.") from error


@lru_cache(maxsize=256)  # a hundred tensors have a dozen headers, and each is parsed as a piece of Python
def _fields(raw: bytes) -> tuple[str, tuple[int, ...]]:
    header = _literal(raw)
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise Malformed("The .npy header must have exactly the members descr, fortran_order and shape.")
    descr, shape = header["descr"], header["shape"]
    if not isinstance(descr, str) or descr not in _DTYPES:
        raise Malformed(f"The .npy type is {str(descr)[:80]!r}; expected one of {', '.join(sorted(_DTYPES))}.")
    if header["fortran_order"] is not False:
        raise Malformed("The .npy file is in Fortran order; save it in C order.")
    if (
        not isinstance(shape, tuple)
        or len(shape) > _RANK_MAX
        or not all(type(n) is int and 0 <= n < 1 << 40 for n in shape)
    ):
        raise Malformed(f"The .npy shape must be a tuple of at most {_RANK_MAX} non-negative integers.")
    return _DTYPES[descr], shape


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 40
