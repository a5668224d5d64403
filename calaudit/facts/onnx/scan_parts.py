"""The small messages of a serialized ONNX model that :mod:`calaudit.facts.onnx.scan` looks into."""

from calaudit.facts.onnx.extent_nouns import ExternalTensor
from calaudit.facts.onnx.protobuf_wire import fields, packed, signed, to_text

_EXTERNAL = 1
"""``TensorProto.DataLocation.EXTERNAL``."""


def read_opset(data: bytes, at: int, end: int) -> tuple[bytes, int]:
    """An ``OperatorSetIdProto``: domain and version."""
    domain, version = b"", 0
    for number, value, start, stop in fields(data, at, end):
        if number == 1 and value < 0:
            domain = data[start:stop]
        elif number == 2 and value >= 0:
            version = signed(value)
    return domain, version


def read_external(data: bytes, at: int, end: int) -> tuple[ExternalTensor | None, int]:
    """A ``TensorProto``: what it says of external data (None where it has none), and the bytes of messages inside."""
    dims, dtype, name, location, inside = list[int](), 0, b"", 0, 0
    entries: list[tuple[str, str]] = []
    for number, value, start, stop in fields(data, at, end):
        if number == 1:
            dims += [value] if value >= 0 else packed(data, start, stop)
        elif number == 2 and value >= 0:
            dtype = ((value & 0xFFFF_FFFF) ^ 0x8000_0000) - 0x8000_0000  # an int32
        elif number == 8 and value < 0:
            name = data[start:stop]
        elif number == 13 and value < 0:
            parts = {n: data[a:b] for n, _, a, b in fields(data, start, stop)}
            entries.append((to_text(parts.get(1, b"")), to_text(parts.get(2, b""))))
        elif number == 14 and value >= 0:
            location = value
        if number in (3, 13, 16):
            inside += 8 + stop - start
    if location != _EXTERNAL:
        return None, inside
    shape = tuple(signed(d) for d in dims)
    return ExternalTensor(name=to_text(name), where="", dtype=dtype, dims=shape, entries=tuple(entries)), inside
