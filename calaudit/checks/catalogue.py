"""Every rule of a contract: the checks that calaudit ships and the policy rules of the contract, as one list.

Here a policy meets the facts: a path that no facts document can have, and a comparison that can never be true or never
be false, are errors of the contract, found before a port is read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from calaudit.checks import Check, discover
from calaudit.checks.policy_rule import policy_check
from calaudit.checks.policy_types import Types
from calaudit.contract import Contract, Param, PolicyRule
from calaudit.errors import ContractError
from calaudit.facts.paths import NoSuchPath, schemas_at
from calaudit.facts.schema import facts_schema
from calaudit.model import Level


def catalogue(contract: Contract) -> tuple[Check, ...]:
    """All rules by their keys; the hard thresholds of ``gates.yaml`` cannot be waived.

    Raises:
        ContractError: two rules have one key or one id on the same gate, a policy names a gate or a fact that does not
            exist, or compares what cannot be compared.
    """
    rules: dict[str, Check] = {}
    for item in (*discover(), *_policies(contract)):
        if item.rule.key in rules:
            raise ContractError(f"Two rules are called {item.rule.key}; rename one of them.")
        rules[item.rule.key] = item
    _check_common(rules)
    thresholds = {f"{gate.id}.{rule}" for gate in contract.gates.gates.values() for rule in gate.threshold}
    for key in sorted(thresholds & rules.keys()):
        if rules[key].rule.level is not Level.ERROR:
            raise ContractError(f"{key} is a hard threshold in policies/gates.yaml, so its level must be error.")
    return tuple(_hardened(rules[key], thresholds) for key in sorted(rules))


def _policies(contract: Contract) -> Iterator[Check]:
    schema = _schema() if contract.policies else {}
    for policy in contract.policies:
        gate = policy.rule.gate
        if gate not in (*contract.gates.gates, "*", "port"):
            raise ContractError(f"{policy.place()}: {policy.rule.id}: there is no gate {gate}.")
        if policy.at is not None and contract.gates.match(policy.at.path) is None:
            raise ContractError(
                f"{policy.place('at')}: {policy.rule.id}: policies/gates.yaml knows no file {policy.at.path}."
            )
        for place, problem in problems(policy, schema, contract.params):
            raise ContractError(f"{place}: {policy.rule.id}: {problem}.")
        yield policy_check(policy)


def problems(policy: PolicyRule, schema: Mapping[str, Any], params: Mapping[str, Param]) -> Iterator[tuple[str, str]]:
    """Where a policy contradicts the facts schema: the place, and what is wrong there."""
    for member, expression in policy.expressions().items():
        for use in expression.uses:
            resolved = policy.resolved(use)
            if resolved.path[0] != "facts":
                continue
            try:
                schemas_at(resolved.path, schema)
                if use.ranged or member == "each":
                    schemas_at((*resolved.path, "*"), schema)
            except NoSuchPath as problem:
                yield policy.place(member, use.at), str(problem)
        for at, text in Types(policy, schema, params).mismatches(expression):
            yield policy.place(member, at), text


def _check_common(rules: dict[str, Check]) -> None:
    """A result names its rule by id and gate, so an id of every gate must not also be one gate's."""
    common = {item.rule.id for item in rules.values() if item.rule.gate == "*"}
    for item in rules.values():
        if item.rule.gate != "*" and item.rule.id in common:
            raise ContractError(f"{item.rule.key} has the id of a rule of every gate; rename it.")


def _hardened(item: Check, thresholds: set[str]) -> Check:
    if item.rule.key not in thresholds:
        return item
    return replace(item, rule=replace(item.rule, unwaivable=True))


@cache
def _schema() -> dict[str, Any]:
    return facts_schema()
