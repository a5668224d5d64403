"""What a serialized ONNX model holds, from the wire format alone: operators, versions, tensors, number of messages.

Nothing is built and nothing imported: 60 000 nodes take a tenth of a second, and a file that would exhaust memory once
it is parsed (an empty message takes two bytes, and a hundred as an object) is refused while it is counted. The reading
is that of protobuf: fields in any order, the last of a singular field, repeated occurrences of a message merged.

The field numbers are those of ``onnx.proto``.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from calaudit.errors import Malformed
from calaudit.facts.onnx.extent_nouns import ExternalTensor
from calaudit.facts.onnx.protobuf_wire import fields, signed, varint
from calaudit.facts.onnx.scan_parts import read_external, read_opset

MESSAGES_MAX = 8_000_000
"""Messages inside one model; parsed they take 1 to 2 GB."""

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
        Malformed: they are no protobuf with a graph, or hold more than ``limit`` messages.
    """
    if not data:
        raise Malformed("The model is empty (0 bytes).")
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
        self.operators: defaultdict[tuple[bytes, bytes], int] = defaultdict(int)
        self.pending: list[tuple[str, int, int, int]] = []

    def run(self) -> None:
        self._model()
        pending, found = self.pending, self.found
        while pending:
            kind, at, end, depth = pending.pop()
            if kind == "graph":
                found.subgraphs += depth > 0
                self._graph(at, end, depth)
            elif kind == "node":
                self._node(at, end, depth)
            elif kind == "tensor":
                tensor, inside = read_external(self.data, at, end)
                found.tensors += 1
                found.external += [tensor] if tensor else []
                self._leaf(inside)
            else:
                self._other(kind, at, end, depth)
            self._count(0)
        found.operators = Counter(self.operators)

    def _model(self) -> None:
        found = self.found
        graphs = 0
        for number, value, at, end in fields(self.data, 0, len(self.data)):
            if value >= 0:
                found.ir_version = signed(value) if number == 1 else found.ir_version
            elif number in (2, 3):
                found.producer[number - 2] = self.data[at:end]
            elif number == 7:
                graphs += 1
                self._push("graph", at, end, 0)
            elif number == 8:
                found.opsets.append(read_opset(self.data, at, end))
                self._count(1)
            elif number == 20:
                self._push("training", at, end, 0)
            elif number == 25:
                found.functions += 1
                self._push("function", at, end, 0)
            else:
                self._leaf(end - at)
        if not graphs:
            raise Malformed("The bytes hold no graph: this is not an ONNX model.")

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
            number, value, start, at = next(fields(data, at, end))
            if value < 0 and number == 1:
                self._node(start, at, depth)
            elif value < 0 and number in (5, 15):
                self._push("tensor" if number == 5 else "sparse", start, at, depth)
            else:
                self._leaf(at - start)

    def _node(self, at: int, end: int, depth: int) -> None:  # noqa: C901 - one flat loop: this is the hot path
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
            if tag < 0x22:  # 1 to 3: inputs, outputs, name
                at += size
                continue
            start = at
            at += size
            if tag == 0x22:  # 4, op_type
                op_type = data[start:at]
            elif tag == 0x3A:  # 7, domain
                domain = data[start:at]
            elif tag == 0x2A:  # 5, attribute
                self._push("attribute", start, at, depth)
            elif tag > 0x42:  # 9 and above: metadata, devices
                self._leaf(size)
        if at > end:
            raise IndexError
        self.operators[domain, op_type] += 1
        self.found.messages += 1

    def _other(self, kind: str, at: int, end: int, depth: int) -> None:
        children = _CHILDREN[kind]
        for number, value, start, stop in fields(self.data, at, end):
            child = children.get(number) if value < 0 else None
            if child is None:
                self._leaf(stop - start)
            else:
                self._push(child, start, stop, depth + (kind == "attribute" and child == "graph"))

    def _push(self, kind: str, at: int, end: int, depth: int) -> None:
        self._count(1)
        self.pending.append((kind, at, end, depth))

    def _leaf(self, size: int) -> None:
        self._count(size // _LEAF_BYTES)

    def _count(self, messages: int) -> None:
        self.found.messages += messages
        if self.found.messages > self.limit:
            raise Malformed(f"The model holds more than {self.limit} messages; calaudit refuses to parse it.")
