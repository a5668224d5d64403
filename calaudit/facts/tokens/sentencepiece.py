"""The pieces of a SentencePiece model (``tokenizer.model``): just enough protobuf to read their names in order.

Format: ``ModelProto`` of sentencepiece_model.proto; field 1 repeats a ``SentencePiece``, whose field 1 is the piece.
"""

from collections.abc import Iterator

from calaudit.errors import Malformed

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_PIECES = 1
_PIECE = 1


def read_pieces(data: bytes) -> list[str]:
    """The pieces, the id of each being its place.

    Raises:
        Malformed: the bytes are no such model, or it has no piece.
    """
    pieces = []
    for number, value in _fields(data):
        if number == _PIECES:
            name = next((v for n, v in _fields(value) if n == _PIECE), None)
            if name is None:
                raise Malformed("A piece of the SentencePiece model has no name.")
            try:
                pieces.append(name.decode())
            except UnicodeDecodeError as error:
                raise Malformed("A piece of the SentencePiece model is not UTF-8.") from error
    if not pieces:
        raise Malformed("It is not a SentencePiece model: it has no pieces.")
    return pieces


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Every field of a message; what is not length-delimited comes as no bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _BYTES:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
        elif kind == _VARINT:
            _, at = _varint(data, at)
            value = b""
        elif kind in (_FIXED32, _FIXED64):
            at += 4 if kind == _FIXED32 else 8
            value = b""
        else:
            raise Malformed("It is not a SentencePiece model: a field has an unknown wire type.")
        if at > len(data):
            raise Malformed("It is not a SentencePiece model: a field ends beyond the file.")
        yield key >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
    raise Malformed("It is not a SentencePiece model: a number does not end.")
