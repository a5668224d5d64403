"""Reading protobuf's wire format without generated classes: just enough for the syntax trees that CEL serializes."""

import struct
from dataclasses import dataclass, field
from typing import Self


@dataclass(slots=True)
class Message:
    """One message as {field number: values}; a value is a number (varint, fixed) or bytes (length-delimited).

    Reading it raises ValueError where the bytes are no protobuf, or a field has the other kind of value.
    """

    fields: dict[int, list[int | bytes]] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Split the bytes of a message into its fields."""
        message = cls()
        at = 0
        while at < len(data):
            key, at = _varint(data, at)
            value: int | bytes
            match key & 7:
                case 0:
                    value, at = _varint(data, at)
                case 1 | 5 as wire:
                    end = at + (8 if wire == 1 else 4)
                    value, at = int.from_bytes(data[at:end], "little"), end
                case 2:
                    size, at = _varint(data, at)
                    value, at = data[at : at + size], at + size
                case wire:
                    raise ValueError(f"wire type {wire} is not part of protobuf 3")
            if at > len(data):
                raise ValueError("the message is cut short")
            message.fields.setdefault(key >> 3, []).append(value)
        return message

    def __contains__(self, number: int) -> bool:
        return number in self.fields

    def number(self, number: int) -> int:
        """The last value of a numeric field; 0 if absent."""
        value = self.fields.get(number, [0])[-1]
        if not isinstance(value, int):
            raise ValueError(f"field {number} holds bytes, not a number")  # noqa: TRY004 - the data is wrong, no caller
        return value

    def signed(self, number: int) -> int:
        """A numeric field as a signed 64-bit integer."""
        value = self.number(number)
        return value - (1 << 64) if value >= 1 << 63 else value

    def double(self, number: int) -> float:
        """A numeric field as the float whose bits it holds."""
        return float(struct.unpack("<d", struct.pack("<Q", self.number(number)))[0])

    def all_bytes(self, number: int) -> list[bytes]:
        """Every value of a length-delimited field."""
        values = self.fields.get(number, [])
        found = [value for value in values if isinstance(value, bytes)]
        if len(found) != len(values):
            raise ValueError(f"field {number} holds a number, not bytes")
        return found

    def bytes(self, number: int) -> bytes:
        """The last value of a length-delimited field; empty if absent."""
        return (self.all_bytes(number) or [b""])[-1]

    def text(self, number: int) -> str:
        """The last value of a text field; empty if absent."""
        return self.bytes(number).decode()

    def message(self, number: int) -> "Message":
        """The last value of a message field; an empty message if absent."""
        return Message.parse(self.bytes(number))

    def messages(self, number: int) -> "list[Message]":
        """Every value of a message field."""
        return [Message.parse(value) for value in self.all_bytes(number)]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a varint is cut short or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
