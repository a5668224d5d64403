"""Comparisons in policies that cannot say anything: ``facts.x.name != 3`` is true of every name.

CEL compares values of different types without an error, and a word that no fact can be (``port.stage == "relase"``)
makes a rule silent for ever. Both are told from the facts schema, the params and what the port's manifest may hold.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calaudit.contract import Param, PolicyRule
from calaudit.contract.cel import Expression
from calaudit.contract.cel_ast import Call, Const, Items, Node
from calaudit.contract.cel_paths import EACH, Path, Use, plain_path, scoped, show
from calaudit.facts.paths import NoSuchPath, enum_of, schemas_at, types_of

PORT_WORDS: Mapping[str, tuple[str, ...]] = {
    "stage": ("development", "candidate", "release"),
    "claim": tuple(f"G{n}" for n in range(11)),
}
_COMPARISONS = ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_")


@dataclass(frozen=True)
class Operand:
    """One side of a comparison: its text, the JSON types and the words it can have (none: any)."""

    text: str
    at: int
    types: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    literal: bool = False


@dataclass(frozen=True)
class Types:
    """What a policy's operands can be."""

    policy: PolicyRule
    schema: Mapping[str, Any]
    params: Mapping[str, Param]

    def mismatches(self, expression: Expression) -> Iterator[tuple[int, str]]:
        """Comparisons whose sides can never be equal, or never be ordered: the offset, and what is wrong."""
        for node, bound in scoped(expression.tree):
            match node:
                case Call(function=function, args=(left, right)) if function in _COMPARISONS:
                    yield from _compare(self._operand(left, bound), self._operand(right, bound))
                case Call(function="@in", args=(left, Items(parts=parts))):
                    for part in parts:
                        yield from _compare(self._operand(left, bound), self._operand(part, bound))
                case Call(function="@in", args=(left, right)):
                    path = plain_path(right, bound)
                    if path is not None:
                        yield from _compare(self._operand(left, bound), self._of_path((*path, EACH), right.at))

    def _operand(self, node: Node, bound: Mapping[str, Path | None]) -> Operand:
        if isinstance(node, Const):
            return Operand(repr(node.value), node.at, frozenset({_json_type(node.value)}), literal=True)
        path = plain_path(node, bound)
        return Operand("", node.at) if path is None else self._of_path(path, node.at)

    def _of_path(self, path: Path, at: int) -> Operand:
        path = self.policy.resolved(Use(path, at)).path
        match path:
            case ["port", member]:
                return Operand(show(path), at, frozenset({"string"}), PORT_WORDS.get(member, ()))
            case ["params", name, *rest]:
                value = self.params[name].value
                values = value if rest and isinstance(value, tuple) else (value,)
                return Operand(show(path), at, frozenset(_json_type(item) for item in values))
            case ["facts", *_]:
                try:
                    found = schemas_at(path, self.schema)
                except NoSuchPath:
                    return Operand(show(path), at)  # reported as such
                return Operand(show(path), at, types_of(found), enum_of(found))
        return Operand(show(path), at)


def _compare(left: Operand, right: Operand) -> Iterator[tuple[int, str]]:
    if right.types == {"null"} or left.types == {"null"}:
        yield right.at, f"{left.text} is compared with null; a fact that is null makes the rule open by itself"
        return
    if left.types and right.types and not _numbered(left.types) & _numbered(right.types):
        yield right.at, f"{_says(left)} and {_says(right)}: they can never be compared"
    for path, literal in ((left, right), (right, left)):
        if literal.literal and path.words and literal.text not in map(repr, path.words):
            yield literal.at, f"{path.text} can never be {literal.text}; it is one of {', '.join(path.words)}"


def _says(operand: Operand) -> str:
    return f"{operand.text} is {' or '.join(sorted(operand.types - {'null'}))}"


def _numbered(types: frozenset[str]) -> frozenset[str]:
    """CEL compares integers and floats by their values; null never comes so far."""
    return frozenset("number" if name == "integer" else name for name in types - {"null"})


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case tuple():
            return "array"
    return "other"
