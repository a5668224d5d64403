"""CEL expressions: compiled when the contract loads, evaluated without a way to pass by accident.

The engine is Google's CEL-C++. Its run-time errors are *values* of type ERROR whose Python value is a truthy string,
and an evaluation over its iteration budget raises; both become :class:`EvaluationError` here. Nothing but a BOOL that
``is True`` is true.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cel_expr_python import cel

from calaudit.contract.cel_ast import Node, decode
from calaudit.contract.cel_paths import Refused, Use, uses

_PROBLEM = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")


class CelError(Exception):
    """An expression that cannot be part of a contract; ``at`` is the offset in its source, in characters."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class EvaluationError(Exception):
    """An evaluation that gave no value: an error of CEL, its iteration budget, or a value of the wrong type."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One compiled expression with the paths it reads."""

    source: str
    tree: Node
    uses: tuple[Use, ...]
    _program: Any

    def is_true(self, data: Mapping[str, Any]) -> bool:
        """Evaluate to a boolean.

        Raises:
            EvaluationError: there is no boolean value.
        """
        value = self._evaluate(data)
        if value.type() != cel.Type.BOOL or value.value() not in (True, False):
            raise EvaluationError(f"the expression gives a {value.type().name()}, not a BOOL")
        return value.value() is True

    def text(self, data: Mapping[str, Any]) -> str:
        """Evaluate to text.

        Raises:
            EvaluationError: there is no text.
        """
        value = self._evaluate(data)
        text = value.value()
        if value.type() != cel.Type.STRING or not isinstance(text, str):
            raise EvaluationError(f"the expression gives a {value.type().name()}, not a STRING")
        return text

    def _evaluate(self, data: Mapping[str, Any]) -> Any:
        try:
            value = self._program.eval(data=dict(data))
        except (RuntimeError, TypeError, ValueError, OverflowError) as error:
            raise EvaluationError(str(error)) from error
        if value.type() == cel.Type.ERROR:
            raise EvaluationError(str(value.value()))
        return value


def compile_bool(source: str, *, item: bool = False) -> Expression:
    """Compile a condition; ``item`` says whether the name ``item`` exists.

    Raises:
        CelError: it does not compile, is not boolean, or holds something whose paths could not be told.
    """
    return _compile(source, (cel.Type.BOOL, cel.Type.DYN), item=item)


def compile_text(source: str, *, item: bool = False) -> Expression:
    """Compile a message.

    Raises:
        CelError: as :func:`compile_bool`, with text for boolean.
    """
    return _compile(source, (cel.Type.STRING, cel.Type.DYN), item=item)


def compile_path(source: str) -> Expression:
    """Compile what ``each`` names.

    Raises:
        CelError: it is anything but one path of a fact.
    """
    expression = _compile(source, (cel.Type.DYN,), item=False)
    if [use.path[0] for use in expression.uses] != ["facts"] or show_source(expression) != "".join(source.split()):
        raise CelError("each names one list of a fact (facts.<subject>.<member>)", 0)
    return expression


def show_source(expression: Expression) -> str:
    """The first path of an expression as it would be written."""
    return ".".join(expression.uses[0].path)


def _compile(source: str, types: tuple[Any, ...], *, item: bool) -> Expression:
    try:
        program = _environment(item).compile(source)
    except RuntimeError as error:
        raise _compile_error(source, str(error)) from error
    if not any(program.return_type() == wanted for wanted in types):
        raise CelError(f"the expression gives a {program.return_type().name()}, not a {types[0].name()}", 0)
    try:
        tree = decode(program.serialize())
        return Expression(source, tree, uses(tree), program)
    except Refused as refused:
        raise CelError(refused.message, refused.at) from refused
    except ValueError as error:
        raise CelError(f"its syntax tree cannot be read ({error})", 0) from error


@cache
def _environment(item: bool) -> Any:  # noqa: FBT001 - a cache key
    dynamic = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
    variables = {"facts": dynamic, "params": dynamic, "port": cel.Type.Map(cel.Type.STRING, cel.Type.STRING)}
    return cel.NewEnv(variables=variables | ({"item": cel.Type.DYN} if item else {}))


def _compile_error(source: str, text: str) -> CelError:
    found = _PROBLEM.search(text)
    if found is None:
        return CelError(text.partition("\n")[0], 0)
    lines = source.split("\n")
    line, column = int(found[1]), int(found[2])
    if line < 1 or column < 1:
        return CelError(found[3], 0)
    return CelError(found[3], sum(len(before) + 1 for before in lines[: line - 1]) + column - 1)
