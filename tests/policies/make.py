"""Policies in one line for tests."""

from collections.abc import Mapping
from typing import Any

from calaudit.checks.policy_rule import Outcome, outcomes
from calaudit.contract.params import parse_params
from calaudit.contract.policies import PolicyRule, parse_rule
from calaudit.contract.yaml_place import Source
from calaudit.errors import MissingFact

PARAMS = parse_params(
    {
        "params": {
            "limit": {"value": 3, "stricter": "lower", "title": "A limit"},
            "batches": {"value": [1, 2], "stricter": "subset", "title": "Batches"},
            "none": {"value": [], "stricter": "subset", "title": "An empty list"},
        }
    }
)


def policy(require: str, **members: Any) -> PolicyRule:
    raw = {
        "id": "some-rule",
        "level": "error",
        "title": "It holds",
        "why": "Because.",
        "fix": "Mend it.",
        "message": "'it does not hold'",
        "require": require,
        **members,
    }
    return parse_rule("G0", raw, Source("policies/some.yaml"), 0, PARAMS)


def judge(
    rule: PolicyRule, facts: Mapping[str, Any], *, port: Mapping[str, Any] | None = None, params: Any = None
) -> list[Outcome]:
    """What a rule says of facts; a missing fact is the error that the engine turns into an open result."""

    def read(name: str) -> Mapping[str, Any]:
        if name == "port":
            return {"id": "p", "profile": "x", "stage": "development", "claim": "G0", **(port or {})}
        if name not in facts:
            raise MissingFact(f"no fact {name}")
        found = facts[name]
        assert isinstance(found, Mapping)
        return found

    values = {name: param.value for name, param in PARAMS.items()} | (params or {})
    return list(outcomes(rule, read, values))


def kinds(rule: PolicyRule, facts: Mapping[str, Any], **options: Any) -> list[str]:
    return [str(outcome.kind) for outcome in judge(rule, facts, **options)]
