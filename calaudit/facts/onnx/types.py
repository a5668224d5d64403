"""ONNX element types: names, widths, and how each stores values; from the specification of ``TensorProto``.

https://onnx.ai/onnx/repo-docs/IR.html. Nothing here imports onnx: the numbers are part of the wire format.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type.

    ``bits`` is the width in raw and external data; None for strings, which have neither. ``field`` is the typed field
    that may hold the values inline, ``per_entry`` how many values one entry of it holds (packed small integers), or the
    negative of how many entries a value takes (complex numbers).
    """

    number: int
    name: str
    bits: int | None
    field: str
    per_entry: int = 1


_ALL = (
    ElementType(1, "float32", 32, "float_data"),
    ElementType(2, "uint8", 8, "int32_data"),
    ElementType(3, "int8", 8, "int32_data"),
    ElementType(4, "uint16", 16, "int32_data"),
    ElementType(5, "int16", 16, "int32_data"),
    ElementType(6, "int32", 32, "int32_data"),
    ElementType(7, "int64", 64, "int64_data"),
    ElementType(8, "string", None, "string_data"),
    ElementType(9, "bool", 8, "int32_data"),
    ElementType(10, "float16", 16, "int32_data"),
    ElementType(11, "float64", 64, "double_data"),
    ElementType(12, "uint32", 32, "uint64_data"),
    ElementType(13, "uint64", 64, "uint64_data"),
    ElementType(14, "complex64", 64, "float_data", -2),
    ElementType(15, "complex128", 128, "double_data", -2),
    ElementType(16, "bfloat16", 16, "int32_data"),
    ElementType(17, "float8e4m3fn", 8, "int32_data"),
    ElementType(18, "float8e4m3fnuz", 8, "int32_data"),
    ElementType(19, "float8e5m2", 8, "int32_data"),
    ElementType(20, "float8e5m2fnuz", 8, "int32_data"),
    ElementType(21, "uint4", 4, "int32_data", 2),
    ElementType(22, "int4", 4, "int32_data", 2),
    ElementType(23, "float4e2m1", 4, "int32_data", 2),
    ElementType(24, "float8e8m0", 8, "int32_data"),
    ElementType(25, "uint2", 2, "int32_data", 4),
    ElementType(26, "int2", 2, "int32_data", 4),
)

ELEMENT_TYPES: Mapping[int, ElementType] = MappingProxyType({t.number: t for t in _ALL})
"""Every element type whose storage calaudit knows, by its ``TensorProto.DataType`` number."""

VALUES_MAX = 1 << 48
"""No tensor has more values; a product of dims beyond it is an overflow, not a tensor."""


def type_name(number: int) -> str:
    """The name of an element type, also of one that is unknown."""
    known = ELEMENT_TYPES.get(number)
    return known.name if known else f"type {number}"


def count_values(dims: tuple[int, ...]) -> int | None:
    """How many values dims describe; None where one is negative or the product is beyond :data:`VALUES_MAX`."""
    if any(d < 0 for d in dims):
        return None
    if 0 in dims:
        return 0
    total = 1
    for dim in dims:
        total *= dim
        if total > VALUES_MAX:
            return None
    return total


def count_bytes(number: int, dims: tuple[int, ...]) -> int | None:
    """How many bytes a tensor takes in raw or external data; None where it can have no such data."""
    known, values = ELEMENT_TYPES.get(number), count_values(dims)
    if known is None or known.bits is None or values is None:
        return None
    return (values * known.bits + 7) // 8
