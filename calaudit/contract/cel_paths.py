"""Which members of ``facts``, ``params``, ``port`` and ``item`` a CEL expression reads.

CEL alone fails open: ``facts.missing.x > 1 || true``, ``!has(…)``, ``all`` over an empty list are all true. So a rule
whose paths are not all present, non-null and finite is open before it is evaluated, and everything that would make the
list of paths inexact (``has``, ``[…]``, members of computed values, other names) is refused when the contract loads.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from calaudit.contract.cel_ast import Call, Comprehension, Const, Ident, Items, Node, Select, Unknown

EACH = "*"
"""The segment of a path that stands for every item of a list."""

ROOTS = ("facts", "params", "port", "item")
"""The only names an expression may begin a path with; ``item`` only in a rule with ``each``."""

PORT_MEMBERS = ("id", "profile", "stage", "claim")

Path = tuple[str, ...]

_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "_[_]": "'[…]' is refused: name the member, or use a macro over the list",
        "dyn": "dyn() is refused: it hides what is compared",
        "type": "type() is refused: the facts schema says the types",
    }
)


@dataclass(frozen=True, slots=True)
class Use:
    """One path in an expression and where it stands; ``ranged`` when a macro only iterates over it."""

    path: Path
    at: int
    ranged: bool = False

    def __str__(self) -> str:
        return show(self.path)


@dataclass(frozen=True, slots=True)
class Refused(Exception):
    """A construct that policies must not use, and where it stands in the expression."""

    message: str
    at: int


def show(path: Path) -> str:
    """A path as text: ``facts.onnx.inputs[*].name``."""
    return ".".join(path).replace(f".{EACH}", f"[{EACH}]")


def uses(tree: Node) -> tuple[Use, ...]:
    """Every path of an expression, in order of appearance, each once.

    Raises:
        Refused: the expression holds something whose paths could not be told exactly.
    """
    found: dict[tuple[Path, bool], Use] = {}
    for use in _visit(tree, {}):
        found.setdefault((use.path, use.ranged), use)
    return tuple(found.values())


def plain_path(node: Node, bound: Mapping[str, Path | None] = MappingProxyType({})) -> Path | None:
    """The path that a node of an accepted expression is; None if it is anything else."""
    match node:
        case Ident(name=name):
            return bound.get(name, (name,))
        case Select(operand=operand, field=field):
            base = plain_path(operand, bound)
            return None if base is None else (*base, field)
    return None


def scoped(
    node: Node, bound: Mapping[str, Path | None] = MappingProxyType({})
) -> Iterator[tuple[Node, Mapping[str, Path | None]]]:
    """Every node of an accepted expression, with what the variables of the macros around it stand for."""
    yield node, bound
    match node:
        case Select(operand=operand):
            yield from scoped(operand, bound)
        case Call(args=parts) | Items(parts=parts):
            for part in parts:
                yield from scoped(part, bound)
        case Comprehension(over=over, body=body, outside=outside):
            yield from scoped(over, bound)
            inside = _inside(node, plain_path(over, bound), bound)
            for part in body:
                yield from scoped(part, inside)
            for part in outside:
                yield from scoped(part, {**bound, node.accumulator: None})


def _visit(node: Node, bound: Mapping[str, Path | None]) -> Iterator[Use]:
    match node:
        case Const():
            return
        case Ident() | Select():
            path = _path(node, bound)
            if path is not None:
                yield Use(_valid(path, _start(node)), _start(node))
        case Call(function=function):
            if function in _REFUSED:
                raise Refused(_REFUSED[function], node.at)
            for argument in node.args:
                yield from _visit(argument, bound)
        case Items(parts=parts):
            for part in parts:
                yield from _visit(part, bound)
        case Comprehension():
            yield from _loop(node, bound)
        case _:
            raise Refused(f"{node.what if isinstance(node, Unknown) else 'this'} is refused", node.at)


def _loop(node: Comprehension, bound: Mapping[str, Path | None]) -> Iterator[Use]:
    if node.variable in ROOTS:
        raise Refused(f"a macro's variable must not be called {node.variable}", node.at)
    over = _path(node.over, bound) if isinstance(node.over, Ident | Select) else None
    if over is None:
        yield from _visit(node.over, bound)
    else:
        yield Use(_valid(over, _start(node.over)), _start(node.over), ranged=True)
    inside = _inside(node, over, bound)
    for part in node.body:
        yield from _visit(part, inside)
    for part in node.outside:
        yield from _visit(part, {**bound, node.accumulator: None})


def _inside(node: Comprehension, over: Path | None, bound: Mapping[str, Path | None]) -> Mapping[str, Path | None]:
    return {**bound, node.accumulator: None, node.variable: None if over is None else (*over, EACH)}


def _path(node: Node, bound: Mapping[str, Path | None]) -> Path | None:
    """The path of a name or a selection; None for a macro's own variable over a computed list."""
    match node:
        case Ident(name=name) if name in bound:
            return bound[name]
        case Ident(name=name) if name in ROOTS:
            return (name,)
        case Ident(name=name):
            raise Refused(f"{name!r} is refused: only {', '.join(ROOTS[:-1])} can be named", node.at)
        case Select(test_only=True):
            raise Refused("has() is refused: a fact that is missing makes the rule open by itself", node.at)
        case Select(operand=Ident() | Select() as operand, field=field):
            base = _path(operand, bound)
            if base is not None:
                return (*base, field)
        case Select(operand=Call(function="_[_]") as index):
            raise Refused(_REFUSED["_[_]"], index.at)
    raise Refused("a member of a computed value is refused: use macros directly over facts", node.at)


def _start(node: Node) -> int:
    """Where a path begins; a selection itself stands at its dot."""
    return _start(node.operand) if isinstance(node, Select) else node.at


def _valid(path: Path, at: int) -> Path:
    members = [segment for segment in path if segment != EACH]
    match members:
        case ["facts", _, _, *_] | ["item", *_] | ["params", _]:
            return path
        case ["port", member] if member in PORT_MEMBERS:
            return path
        case ["port", *_]:
            raise Refused(f"{show(path)} does not exist; the port has {', '.join(PORT_MEMBERS)}", at)
        case ["params", *_]:
            raise Refused(f"{show(path)} does not name one param (params.<name>)", at)
    raise Refused(f"{show(path)} does not name a member of a fact (facts.<subject>.<member>)", at)
