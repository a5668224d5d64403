"""Protobuf's wire format: the fields of a message, without knowing what they mean.

https://protobuf.dev/programming-guides/encoding. Groups, which ONNX does not use, are refused.
"""

from collections.abc import Iterator

from calaudit.errors import Malformed


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of one message: number, value, and where a field's bytes start and end.

    The value is -1 for what has bytes (strings, messages, packed numbers); a plain number has none, and one of fixed
    width counts as 0. The end is where the next field starts.

    Raises:
        Malformed: the bytes are no message.
    """
    while at < end:
        tag, at = varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        value, start = 0, at
        if wire == 0:
            value, at = varint(data, at, end)
            start = at
        elif wire == 2:
            size, start = varint(data, at, end)
            value, at = -1, start + size
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
            start = at
        if at > end or wire not in (0, 1, 2, 5) or not number:
            raise Malformed(
                f"The bytes are not an ONNX protobuf: field {number} of wire type {wire} at offset {start}."
            )
        yield number, value, start, at


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number in base 128, and where it ends.

    Raises:
        Malformed: it does not end.
    """
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise Malformed(f"The bytes are not an ONNX protobuf: an unfinished number at offset {at}.")


def packed(data: bytes, at: int, end: int) -> list[int]:
    """Numbers one after the other, as in a packed field."""
    values = []
    while at < end:
        value, at = varint(data, at, end)
        values.append(value)
    return values


def signed(value: int) -> int:
    """The signed 64-bit number that a plain number stands for."""
    return value - (1 << 64) if value >> 63 else value


def to_text(value: bytes) -> str:
    """A string; bytes that are not UTF-8 are escaped."""
    return value.decode("utf-8", "backslashreplace")
