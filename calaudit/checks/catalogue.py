"""Every rule of a contract: the checks that calaudit ships, its policy rules and those of overlays, as one list.

Here a policy meets the facts: a path that no facts document can have, and a comparison that can never be true or never
be false, are errors of the contract, found before a port is read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

from calaudit.checks import Check, discover
from calaudit.checks.cue_rule import Vetter, cue_check
from calaudit.checks.levels import judged_on, raised
from calaudit.checks.policy_rule import policy_check
from calaudit.checks.policy_types import Types
from calaudit.contract import Contract, Param, PolicyRule, Value
from calaudit.contract.params import show
from calaudit.contract.policy_folder import CUE
from calaudit.errors import ContractError, UsageError
from calaudit.facts.paths import NoSuchPath, schemas_at
from calaudit.facts.schema import facts_schema
from calaudit.model import Level


def catalogue(contract: Contract, *, today: date | None = None, vetter: Vetter | None = None) -> tuple[Check, ...]:
    """All rules by their keys; the hard thresholds of ``gates.yaml`` cannot be waived.

    ``today`` is the day for which dated rules are judged: that of the contract, or today (UTC), if None. ``vetter``
    judges policies in CUE: without one they stay open.

    Raises:
        UsageError: the contract was loaded for another day.
        ContractError: two rules have one key or one id on the same gate, a policy names a gate or a fact that does not
            exist, or compares what cannot be compared; an overlay lowers a level, or stands in for a hard threshold.
    """
    today = today or contract.as_of or datetime.now(UTC).date()
    if contract.as_of not in (None, today):
        raise UsageError(
            f"The contract was loaded for {contract.as_of} and is to judge on {today}; load it for that day."
        )
    rules: dict[str, Check] = {}
    for item in (*discover(), *_policies(contract), *(cue_check(policy, vetter) for policy in contract.cue)):
        if item.rule.key in rules:
            added = {policy.rule.key: f" The second is at {policy.place()}." for policy in contract.policies}
            raise ContractError(
                f"Two rules are called {item.rule.key}; rename one of them.{added.get(item.rule.key, '')}"
            )
        rules[item.rule.key] = item
    _check_common(rules)
    _check_gates(contract)
    thresholds = {f"{gate.id}.{rule}" for gate in contract.gates.gates.values() for rule in gate.threshold}
    for key in sorted(thresholds & rules.keys()):
        if rules[key].rule.level is not Level.ERROR:
            raise ContractError(f"{key} is a hard threshold in policies/gates.yaml, so its level must be error.")
    _refuse_impostors(contract)
    return judged_on(
        today,
        raised((_hardened(rules[key], thresholds) for key in sorted(rules)), contract.tightenings, today),
        contract.policies,
    )


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


def _refuse_impostors(contract: Contract) -> None:
    """A rule of an overlay with the id of a hard threshold would answer for one that this version cannot judge."""
    hard = {rule for gate in contract.gates.gates.values() for rule in gate.threshold}
    added = [(policy.rule.id, policy.place()) for policy in contract.policies if not policy.shipped]
    added += [(policy.name.removesuffix(CUE), policy.where) for policy in contract.cue]
    for rule_id, place in added:
        if rule_id in hard:
            raise ContractError(
                f"{place}: {rule_id} is a hard threshold in policies/gates.yaml, and no overlay can stand in for it; "
                "give the rule a name of its own."
            )


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


def _check_gates(contract: Contract) -> None:
    """A gate that does not exist demands nothing: a param that names one is a slip, and would go unnoticed."""
    asked: list[tuple[str, Mapping[str, Value]]] = []
    for document in contract.tightenings:  # first, since what they name is among the values of the profiles too
        asked += [(document.where, values) for values in (document.params, *document.profiles.values())]
    asked += [(f"policies/profiles/{profile.id}.yaml", profile.params) for profile in contract.profiles.values()]
    for where, values in asked:
        for name in (name for name in values if name.endswith("_gates")):
            gates = values[name]
            unknown = [gate for gate in gates if gate not in contract.gates.gates] if isinstance(gates, tuple) else []
            if unknown:
                raise ContractError(
                    f"{where}: {name} names {show(unknown[0])}; gates are {', '.join(contract.gates.gates)}."
                )


def _hardened(item: Check, thresholds: set[str]) -> Check:
    if item.rule.key not in thresholds:
        return item
    return replace(item, rule=replace(item.rule, unwaivable=True))


@cache
def _schema() -> dict[str, Any]:
    return facts_schema()
