"""What a rule says of a case, and whether that is what the case expects."""

from collections.abc import Mapping
from typing import Any, cast

from calaudit.checks.policy_rule import Outcome, outcomes
from calaudit.cli._policy_cases import Case, CueRule
from calaudit.contract import PolicyRule
from calaudit.errors import MissingFact
from calaudit.facts.document import written
from calaudit.model import Kind

__all__ = ["judged"]

_PORT = {"id": "case", "profile": "case", "stage": "development", "claim": "G0"}
_ORDER = (Kind.FAIL, Kind.OPEN, Kind.PASS, Kind.NOT_APPLICABLE)


def judged(case: Case) -> str | None:
    """What is wrong with a case's judgement, as the end of a sentence; None if it is as expected."""
    said = _said(case)
    kind = next(kind for kind in _ORDER if any(outcome.kind is kind for outcome in said))
    messages = [outcome.message for outcome in said if outcome.kind is kind]
    words = "; ".join(filter(None, messages[:3]))
    if kind is not case.expect:
        return f"expected {case.expect}, found {kind}{f' ({words})' if words else ''}"
    if case.message is not None and not any(case.message in message for message in messages):
        return f"expected a message with {case.message!r}, found {words!r}"
    return None


def _said(case: Case) -> list[Outcome]:
    if isinstance(case.rule, CueRule):
        return _vetted(case.rule, case.facts)
    return _evaluated(case.rule, case)


def _vetted(rule: CueRule, facts: Mapping[str, Any]) -> list[Outcome]:
    assert rule.vetter is not None  # noqa: S101 - who runs cases brings one
    document = written({name: subject for name, subject in facts.items() if subject is not None}).encode()
    faults = rule.vetter.vet(rule.policy.name, rule.policy.source, document)
    said = [Outcome(kind=Kind.FAIL, message=fault.message) for fault in faults]
    return said or [Outcome(kind=Kind.PASS)]


def _evaluated(rule: PolicyRule, case: Case) -> list[Outcome]:
    def read(name: str) -> Mapping[str, Any]:
        found = case.facts.get(name)
        if name == "port" and (found is not None or name not in case.facts):
            found = {**_PORT, **case.port, **(found or {})}
        if found is None:
            raise MissingFact(f"The case has no fact {name}.")
        return cast("Mapping[str, Any]", found)

    said: list[Outcome] = []
    try:
        said.extend(outcomes(rule, read, case.params))
    except MissingFact as missing:
        said.append(Outcome(kind=Kind.OPEN, message=missing.message))
    return said
