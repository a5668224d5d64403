"""The header of a safetensors file, read strictly: nothing behind it is touched.

A file is an eight-byte little-endian length, that many bytes of JSON, and the data. The data must be exactly the
tensors one after the other: what a lax reader lets through (gaps, overlaps, bytes behind the last one) may be a
payload.
"""

import math
from dataclasses import dataclass

from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.model import Json

PREFIX = 8
"""Bytes of the length."""

LARGEST = 64 << 20
"""Bytes that a header may have. The format allows 100 MB; a real one has a few hundred bytes a tensor."""

BITS = {
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "I64": 64, "U64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
"""Bits of one element of each dtype of the format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor: its place is ``begin`` to ``end`` in the data, in bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


def header_size(first: bytes, file_size: int) -> int:
    """How many bytes length and header take together, from the first eight bytes of a file.

    Raises:
        Malformed: the file is too short for what it says.
    """
    if len(first) < PREFIX:
        raise Malformed("The file is shorter than the length of its header.")
    length = int.from_bytes(first[:PREFIX], "little")
    if not 2 <= length <= LARGEST or PREFIX + length > file_size:
        raise Malformed(f"The header says to be {length} bytes long, in a file of {file_size} bytes.")
    return PREFIX + length


def parse_header(head: bytes, file_size: int) -> tuple[Tensor, ...]:
    """The tensors of a file in the order of their data; ``head`` is at least the length and the header.

    Raises:
        Malformed: the header is not strict JSON of the right form, or its tensors do not fill the data exactly.
    """
    size = header_size(head, file_size)
    text = head[PREFIX:size]
    if not text.startswith(b"{"):
        raise Malformed("The header does not begin with an object.")
    document = parse_json(text.rstrip(b" "))
    assert isinstance(document, dict)  # noqa: S101 - it begins with a brace
    metadata = document.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise Malformed("__metadata__ does not map text to text.")
    tensors = sorted((_tensor(n, raw) for n, raw in document.items()), key=lambda t: (t.begin, t.end, t.name))
    _fill(tensors, file_size - size)
    return tuple(tensors)


def _tensor(name: str, raw: Json) -> Tensor:
    if not isinstance(raw, dict) or raw.keys() != {"dtype", "shape", "data_offsets"}:
        raise Malformed(f"Tensor {name!r} has other members than dtype, shape and data_offsets.")
    dtype, shape, offsets = raw["dtype"], raw["shape"], raw["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise Malformed(f"Tensor {name!r} has the unknown dtype {dtype!r}.")
    dimensions, places = _naturals(shape), _naturals(offsets)
    if dimensions is None:
        raise Malformed(f"Tensor {name!r} has a shape that is not a list of natural numbers.")
    if places is None or len(places) != 2 or places[0] > places[1]:
        raise Malformed(f"Tensor {name!r} has data_offsets that are not a begin and an end.")
    tensor = Tensor(name=name, dtype=dtype, shape=dimensions, begin=places[0], end=places[1])
    if 8 * (tensor.end - tensor.begin) != BITS[dtype] * tensor.elements:
        held = tensor.end - tensor.begin
        raise Malformed(
            f"Tensor {name!r} takes {held} bytes, which is not what {dtype} of shape {list(dimensions)} takes."
        )
    return tensor


def _naturals(value: Json) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    numbers = tuple(v for v in value if isinstance(v, int) and not isinstance(v, bool) and v >= 0)
    return numbers if len(numbers) == len(value) else None


def _fill(tensors: list[Tensor], data_size: int) -> None:
    reached = 0
    for tensor in tensors:
        if tensor.begin != reached:
            what = "overlaps the tensor before it" if tensor.begin < reached else "leaves a gap before it"
            raise Malformed(f"Tensor {tensor.name!r} begins at byte {tensor.begin} of the data and {what}.")
        reached = tensor.end
    if reached != data_size:
        raise Malformed(f"The tensors end at byte {reached} of the data, which has {data_size} bytes.")
