"""The checked syntax tree of a CEL expression, read from what the compiler itself serializes.

``Expression.serialize()`` gives a ``cel.expr.CheckedExpr`` (wrapped in an ``Any``): the tree that will be evaluated,
with macros expanded. Reading it is exact where a tokenizer would guess: strings, comments and variables of macros are
already resolved. The field numbers are those of ``cel/expr/syntax.proto`` and ``checked.proto``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from calaudit.contract.protobuf import Message


@dataclass(frozen=True, slots=True)
class Node:
    """One node; ``at`` is its offset in the source, in characters (of an operator: where the operator stands)."""

    at: int


@dataclass(frozen=True, slots=True)
class Const(Node):
    """A literal."""

    value: bool | int | float | str | bytes | None


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """A name."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    """``operand.field``; ``test_only`` is what ``has(operand.field)`` becomes."""

    operand: Node
    field: str
    test_only: bool


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function or an operator (``_<=_``); ``args`` begin with the receiver of a method."""

    function: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Items(Node):
    """A list or map literal: its parts, keys and values alike."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    """An expanded macro: ``body`` runs once for each item of ``over``, which is bound to ``variable``."""

    variable: str
    accumulator: str
    over: Node
    body: tuple[Node, ...]
    outside: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Unknown(Node):
    """A construct that policies do not use (message literals, optional syntax)."""

    what: str


def decode(serialized: bytes) -> Node:
    """The tree of a serialized checked expression.

    Raises:
        ValueError: the bytes are not a ``CheckedExpr``.
    """
    wrapper = Message.parse(serialized)
    if not wrapper.text(1).endswith("/cel.expr.CheckedExpr"):
        raise ValueError(f"expected a serialized cel.expr.CheckedExpr, found {wrapper.text(1)!r}")
    checked = wrapper.message(2)
    positions = {entry.number(1): entry.number(2) for entry in checked.message(5).messages(4)}
    return _Decoder(positions).node(checked.message(4))


class _Decoder:
    """Turns expression messages into nodes; holds the offsets of the nodes."""

    def __init__(self, positions: dict[int, int]) -> None:
        self.positions = positions

    def node(self, expr: Message) -> Node:
        at = self.positions.get(expr.number(2), 0)
        for number, read in _KINDS.items():
            if number in expr:
                return read(self, at, expr.message(number))
        return Unknown(at, "a construct that calaudit does not know")

    def nodes(self, exprs: list[Message]) -> tuple[Node, ...]:
        return tuple(self.node(expr) for expr in exprs)

    def const(self, at: int, constant: Message) -> Node:
        number = next(iter(constant.fields), 1)
        match number:
            case 2:
                return Const(at, bool(constant.number(2)))
            case 3:
                return Const(at, constant.signed(3))
            case 4:
                return Const(at, constant.number(4))
            case 5:
                return Const(at, constant.double(5))
            case 6:
                return Const(at, constant.text(6))
            case 7:
                return Const(at, constant.bytes(7))
        return Const(at, None) if number == 1 else Unknown(at, "a literal that calaudit does not know")

    def ident(self, at: int, ident: Message) -> Node:
        return Ident(at, ident.text(1))

    def select(self, at: int, select: Message) -> Node:
        return Select(at, self.node(select.message(1)), select.text(2), bool(select.number(3)))

    def call(self, at: int, call: Message) -> Node:
        receiver = (self.node(call.message(1)),) if 1 in call else ()
        return Call(at, call.text(2), (*receiver, *self.nodes(call.messages(3))))

    def items(self, at: int, listed: Message) -> Node:
        return Unknown(at, "an optional list element") if 2 in listed else Items(at, self.nodes(listed.messages(1)))

    def struct(self, at: int, struct: Message) -> Node:
        entries = struct.messages(2)
        if 1 in struct or any(3 not in entry for entry in entries):
            return Unknown(at, "a message literal")
        return Items(at, self.nodes([part for entry in entries for part in (entry.message(3), entry.message(4))]))

    def comprehension(self, at: int, loop: Message) -> Node:
        if 8 in loop:
            return Unknown(at, "a macro with two variables")
        return Comprehension(
            at,
            loop.text(1),
            loop.text(3),
            self.node(loop.message(2)),
            body=self.nodes([loop.message(5), loop.message(6)]),
            outside=self.nodes([loop.message(4), loop.message(7)]),
        )


_KINDS: Mapping[int, Callable[[_Decoder, int, Message], Node]] = MappingProxyType(
    {
        3: _Decoder.const,
        4: _Decoder.ident,
        5: _Decoder.select,
        6: _Decoder.call,
        7: _Decoder.items,
        8: _Decoder.struct,
        9: _Decoder.comprehension,
    }
)
