"""Names of pieces from protobuf bytes."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.errors import Malformed
from calaudit.facts.tokens.sentencepiece import read_pieces


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def piece(name: str) -> bytes:
    return field(1, field(1, name.encode()) + b"\x15\x00\x00\x80\xbf" + b"\x18\x01")


@given(st.lists(st.text(max_size=300), min_size=1, max_size=20))
def test_round_trip(names: list[str]) -> None:
    assert read_pieces(b"".join(map(piece, names)) + field(2, b"trainer") + b"\x21" + b"\0" * 8) == names


@pytest.mark.parametrize(
    "data", [b"", b"\x0a", b"\x0a\x05\x0a", b"\x0a\x02\x18\x01", b"\xff" * 20, b"\x0b", field(1, field(1, b"\xff"))]
)
def test_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        read_pieces(data)


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    with suppress(Malformed):
        assert read_pieces(data)
