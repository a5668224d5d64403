"""What a serialized ONNX model holds, from the wire format alone: operators, versions, tensors, and how many messages.

Nothing is built and nothing imported: 60 000 nodes take a tenth of a second, and a file that would exhaust memory once it
is parsed (an empty message takes two bytes, and a hundred as an object) is refused while it is counted. The reading is that
of protobuf: fields in any order, the last of a singular field, repeated occurrences of a message merged.

Wire format: https://protobuf.dev/programming-guides/encoding; field numbers: ``onnx.proto`` of ONNX.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from calaudit.errors import Malformed
from calaudit.facts.extent_nouns import ExternalTensor

MESSAGES_MAX = 8_000_000
"""Messages inside one model; parsed they take 1 to 2 GB."""

_EXTERNAL = 1
_LEAF_BYTES = 8
"""A small message without a kind of its own counts as one message for each so many bytes: it may hold others."""

_CHILDREN = {
    "training": {1: "graph", 2: "graph"},
    "function": {11: "attribute", 7: "node"},
    "attribute": {5: "tensor", 6: "graph", 22: "sparse", 10: "tensor", 11: "graph", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}


@dataclass(slots=True)
class Scan:
    """What was found. Domains, names and types are bytes, as they stand; ``ai.onnx`` is not yet the default domain."""

    ir_version: int = 0
    producer: list[bytes] = field(default_factory=lambda: [b"", b""])
    opsets: list[tuple[bytes, int]] = field(default_factory=list)
    functions: int = 0
    subgraphs: int = 0
    tensors: int = 0
    operators: Counter[tuple[bytes, bytes]] = field(default_factory=Counter)
    external: list[ExternalTensor] = field(default_factory=list)
    messages: int = 0


def scan_model(data: bytes, *, limit: int = MESSAGES_MAX) -> Scan:
    """Read the bytes of a model once.

    Raises:
        Malformed: they are no protobuf, or hold more than ``limit`` messages.
    """
    scanner = _Scanner(data, limit)
    try:
        scanner.run()
    except IndexError as error:
        raise Malformed("The bytes are not an ONNX protobuf: they end inside a field.") from error
    return scanner.found


class _Scanner:
    def __init__(self, data: bytes, limit: int) -> None:
        self.data = data
        self.limit = limit
        self.found = Scan()
        self.pending: list[tuple[str, int, int, int]] = []

    def run(self) -> None:
        self._model()
        pending = self.pending
        while pending:
            kind, at, end, depth = pending.pop()
            if kind == "graph":
                self.found.subgraphs += depth > 0
                self._graph(at, end, depth)
            elif kind == "node":
                self._node(at, end, depth)
            elif kind == "tensor":
                self._tensor(at, end)
            else:
                self._other(kind, at, end, depth)

    def _model(self) -> None:
        found = self.found
        for number, value, at, end in fields(self.data, 0, len(self.data)):
            if number == 1:
                found.ir_version = value
            elif number in (2, 3):
                found.producer[number - 2] = self.data[at:end]
            elif number == 7:
                self._push("graph", at, end, 0)
            elif number == 8:
                found.opsets.append(self._opset(at, end))
                self._count(1)
            elif number == 20:
                self._push("training", at, end, 0)
            elif number == 25:
                found.functions += 1
                self._push("function", at, end, 0)
            else:
                self._leaf(end - at)

    def _graph(self, at: int, end: int, depth: int) -> None:
        data = self.data
        while at < end:
            if data[at] == 0x0A:  # field 1, a node: the fast path
                size = data[at + 1]
                at += 2
                if size > 0x7F:
                    size, at = varint(data, at - 1, end)
                if at + size > end:
                    raise IndexError
                self._node(at, at + size, depth)
                at += size
                continue
            number, _, start, at = next(fields(data, at, end))
            if number == 1:
                self._node(start, at, depth)
            elif number in (5, 15):
                self._push("tensor" if number == 5 else "sparse", start, at, depth)
            else:
                self._leaf(at - start)

    def _node(self, at: int, end: int, depth: int) -> None:
        data, op_type, domain = self.data, b"", b""
        while at < end:
            tag, size = data[at], data[at + 1]
            if tag & 0x87 != 2:  # not a length-delimited field below 16: the long way
                number, _, start, at = next(fields(data, at, end))
                if number >= 16:
                    self._leaf(at - start)
                continue
            at += 2
            if size > 0x7F:
                size, at = varint(data, at - 1, end)
            start = at
            at += size
            if at > end:
                raise IndexError
            if tag == 0x22:  # 4, op_type
                op_type = data[start:at]
            elif tag == 0x3A:  # 7, domain
                domain = data[start:at]
            elif tag == 0x2A:  # 5, attribute
                self._push("attribute", start, at, depth)
            elif tag > 0x42:  # 9 and above: metadata, devices
                self._leaf(size)
        self.found.operators[domain, op_type] += 1
        self._count(1)

    def _other(self, kind: str, at: int, end: int, depth: int) -> None:
        children = _CHILDREN[kind]
        for number, _, start, stop in fields(self.data, at, end):
            child = children.get(number)
            if child is None:
                self._leaf(stop - start)
            else:
                self._push(child, start, stop, depth + (kind == "attribute" and child == "graph"))

    def _tensor(self, at: int, end: int) -> None:
        data, dims, dtype, name, location = self.data, list[int](), 0, b"", 0
        entries: list[tuple[str, str]] = []
        self.found.tensors += 1
        for number, value, start, stop in fields(data, at, end):
            if number == 1:
                dims += [value] if start == stop else _packed(data, start, stop)
            elif number == 2:
                dtype = value
            elif number == 8:
                name = data[start:stop]
            elif number == 13:
                self._count(1)
                parts = {n: data[a:b] for n, _, a, b in fields(data, start, stop)}
                entries.append((_text(parts.get(1, b"")), _text(parts.get(2, b""))))
            elif number == 14:
                location = value
            elif number in (3, 16):
                self._leaf(stop - start)
        if location == _EXTERNAL:
            shape = tuple(_signed(d) for d in dims)
            self.found.external.append(
                ExternalTensor(name=_text(name), where="", dtype=_signed(dtype), dims=shape, entries=tuple(entries))
            )

    def _opset(self, at: int, end: int) -> tuple[bytes, int]:
        domain, version = b"", 0
        for number, value, start, stop in fields(self.data, at, end):
            if number == 1:
                domain = self.data[start:stop]
            elif number == 2:
                version = _signed(value)
        return domain, version

    def _push(self, kind: str, at: int, end: int, depth: int) -> None:
        self._count(1)
        self.pending.append((kind, at, end, depth))

    def _leaf(self, size: int) -> None:
        self._count(size // _LEAF_BYTES)

    def _count(self, messages: int) -> None:
        self.found.messages += messages
        if self.found.messages > self.limit:
            raise Malformed(f"The model holds more than {self.limit} messages; calaudit refuses to parse it.")


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of one message: number, value of a plain number (else 0), and where a field's bytes start and end.

    ``start == end`` for a plain number; the end is where the next field starts in either case.

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
            at = start + size
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
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


def _packed(data: bytes, at: int, end: int) -> list[int]:
    values = []
    while at < end:
        value, at = varint(data, at, end)
        values.append(value)
    return values


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")
