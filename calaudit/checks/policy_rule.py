"""Policy rules as checks: the engine cannot tell them apart from rules in Python.

The order of judging one rule: facts missing → open; ``when`` has a gap or errs → open; ``when`` false → not applicable;
``require`` has a gap, errs, runs out of its budget or gives no boolean → open; true → pass; false → fail.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from calaudit.checks import Check, View
from calaudit.checks.policy_data import gaps, plain_data, select
from calaudit.contract import PolicyRule
from calaudit.contract.cel import EvaluationError, Expression
from calaudit.contract.cel_ast import Call, Const, Node
from calaudit.contract.cel_paths import Use, plain_path
from calaudit.errors import MissingFact
from calaudit.facts import discover_facts, fact_document
from calaudit.model import Kind, Result

Reader = Callable[[str], Mapping[str, Any]]
"""Gives the public members of a fact by the fact's name, or raises MissingFact."""

_COMPARISONS = {"_<=_": "<=", "_<_": "<", "_>=_": ">=", "_>_": ">", "_==_": "==", "_!=_": "!=", "@in": "in"}
_GAPS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a policy rule says of the port, or of one item of its ``each``."""

    kind: Kind
    message: str = ""
    expected: str | None = None
    actual: str | None = None


def policy_check(policy: PolicyRule) -> Check:
    """The policy rule as a check."""
    return Check(policy.rule, partial(_run, policy))


def _run(policy: PolicyRule, view: View) -> Iterator[Result]:
    kinds = {kind.name: kind for kind in discover_facts()}

    def read(name: str) -> Mapping[str, Any]:
        if name not in kinds:
            raise MissingFact(f"This version of calaudit derives no fact {name}.")
        return fact_document(view.fact(kinds[name]))

    for outcome in outcomes(policy, read, view.params):
        match outcome.kind:
            case Kind.PASS:
                view.saw()
            case Kind.FAIL:
                view.saw()
                yield view.fail(outcome.message, at=policy.at, expected=outcome.expected, actual=outcome.actual)
            case Kind.OPEN:
                yield view.open(outcome.message, at=policy.at)
            case Kind.NOT_APPLICABLE:
                yield view.not_applicable(outcome.message)


def outcomes(policy: PolicyRule, read: Reader, params: Mapping[str, Any]) -> Iterator[Outcome]:
    """Judge a policy rule; one outcome, or one for each item of ``each``.

    Raises:
        MissingFact: the evidence does not support a fact that the rule reads.
    """
    if policy.when is not None:
        data = _data([policy.when], read, params)
        try:
            applies = _evaluate(policy.when, policy.when.uses, data)
        except EvaluationError as error:
            yield Outcome(kind=Kind.OPEN, message=f"Whether the rule applies cannot be said: {error}.")
            return
        if not applies:
            yield Outcome(kind=Kind.NOT_APPLICABLE, message=f"It applies only when {_one_line(policy.when)}.")
            return
    data = _data([policy.require], read, params)
    if policy.each is None:
        yield _outcome(policy, data, read, params)
        return
    try:
        items = _items(policy.each, read)
    except EvaluationError as error:
        yield Outcome(kind=Kind.OPEN, message=f"{error}.")
        return
    for item in items:
        yield _outcome(policy, {**data, "item": item}, read, params)


def _items(each: Expression, read: Reader) -> list[Any]:
    """The items of the list that ``each`` names; never handed to CEL as a whole."""
    listed = each.uses[0]
    found: Any = _data([each], read, {})
    missing = list(gaps(Use(listed.path, listed.at, ranged=True), found))
    if missing:
        raise EvaluationError(_sentence(missing).removesuffix("."))
    for segment in listed.path:
        found = found[segment]
    return list(found)


def _outcome(policy: PolicyRule, data: Mapping[str, Any], read: Reader, params: Mapping[str, Any]) -> Outcome:
    try:
        passed = _evaluate(policy.require, policy.require.uses, data)
    except EvaluationError as error:
        return Outcome(kind=Kind.OPEN, message=f"{error}.")
    if passed:
        return Outcome(kind=Kind.PASS)
    expected, actual = _compared(policy.require.tree, data)
    return Outcome(kind=Kind.FAIL, message=_message(policy, data, read, params), expected=expected, actual=actual)


def _evaluate(expression: Expression, uses: tuple[Use, ...], data: Mapping[str, Any]) -> bool:
    missing = list(islice((gap for use in uses for gap in gaps(use, data)), _GAPS_SHOWN + 1))
    if missing:
        raise EvaluationError(_sentence(missing).removesuffix("."))
    return expression.is_true(data)


def _message(policy: PolicyRule, data: Mapping[str, Any], read: Reader, params: Mapping[str, Any]) -> str:
    """The rule's own words; where they cannot be had, its title and why not: a failure is never hidden."""
    try:
        said = policy.message.text({**_data([policy.message], read, params), **_item(data)})
    except (EvaluationError, MissingFact) as error:
        return f"Not so: {policy.rule.title}. (The rule's message could not be told: {error}.)"
    return said or f"Not so: {policy.rule.title}."


def _data(expressions: list[Expression], read: Reader, params: Mapping[str, Any]) -> dict[str, Any]:
    """The data of some expressions: only the members they read. The port is what its manifest says, or missing."""
    uses = [use for expression in expressions for use in expression.uses]
    names = sorted({use.path[1] for use in uses if use.path[0] == "facts"})
    facts = {name: read(name) for name in names}
    port = read("port") if any(use.path[0] == "port" for use in uses) else {}
    return {
        "facts": select("facts", uses, facts),
        "params": select("params", uses, params),
        "port": select("port", uses, port),
    }


def _item(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"item": data["item"]} if "item" in data else {}


def _compared(tree: Node, data: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Expected and actual of a rule that is one comparison of plain paths and literals."""
    match tree:
        case Call(function=function, args=(left, right)) if function in _COMPARISONS:
            try:
                actual, bound = _value(left, data), _value(right, data)
            except (LookupError, TypeError):
                return None, None
            return f"{_COMPARISONS[function]} {_shown(bound)}", _shown(actual)
    return None, None


def _value(node: Node, data: Any) -> Any:
    if isinstance(node, Const):
        return node.value
    path = plain_path(node)
    if path is None:
        raise LookupError("not a plain path")
    for segment in path:
        data = data[segment]
    return plain_data(data)


def _shown(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _one_line(expression: Expression) -> str:
    return " ".join(expression.source.split())


def _sentence(missing: list[str]) -> str:
    more = ", and more" if len(missing) > _GAPS_SHOWN else ""
    return f"{'; '.join(missing[:_GAPS_SHOWN])}{more}."
