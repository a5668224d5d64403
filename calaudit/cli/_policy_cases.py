"""The cases of policies: facts in, and what one rule must say of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calaudit.checks.cue_rule import Vetter, cue_check
from calaudit.cli._policy_files import TEST, File, Folder
from calaudit.contract import CuePolicy, PolicyRule
from calaudit.contract.policy_folder import CUE, YAML
from calaudit.facts.paths import NoSuchPath, schemas_at
from calaudit.model import Kind, Rule

__all__ = ["Case", "CueRule", "Suite", "suites"]


@dataclass(frozen=True, kw_only=True)
class CueRule:
    """A policy in CUE as a rule under test, and what vets it."""

    rule: Rule
    policy: CuePolicy
    vetter: Vetter | None

    def place(self) -> str:
        """The policy's file."""
        return self.policy.where


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row: what a rule sees and what it must say."""

    place: str
    rule: PolicyRule | CueRule
    name: str
    facts: Mapping[str, Any]
    params: Mapping[str, Any]
    port: Mapping[str, Any]
    expect: Kind
    message: str | None


@dataclass(frozen=True, kw_only=True)
class Suite:
    """One policy with its cases; ``faults`` is what keeps either from being used."""

    policy: str
    rules: Sequence[PolicyRule | CueRule]
    cases: Sequence[Case] = ()
    faults: Sequence[str] = field(default_factory=list)

    def uncovered(self) -> Iterator[str]:
        """A sentence for every kind that a rule can give and that no case shows."""
        for rule in self.rules:
            shown = {case.expect for case in self.cases if case.rule is rule}
            # To CUE a missing fact is a fault like others: its rule is open only where no engine vets it.
            missing = sorted(rule.rule.kinds - shown - ({Kind.OPEN} if isinstance(rule, CueRule) else set()))
            if missing:
                yield f"{rule.place()}: {rule.rule.id}: no case expects {', '.join(missing)}."


def suites(folder: Folder, vetter: Vetter | None = None) -> Iterator[Suite]:
    """Every policy with its cases, and every file of cases that has no policy."""
    policies = folder.policies()
    for name in policies:
        file = folder.read(name, "policy/v1")
        found = list(folder.rules(file))
        rules = [rule for rule in found if not isinstance(rule, str)]
        faults = [*file.faults, *(fault for fault in found if isinstance(fault, str))]
        yield _suite(folder, name, name.removesuffix(YAML) + TEST, rules, faults)
    for name, policy in folder.cue.items():
        rule = CueRule(rule=cue_check(policy, vetter).rule, policy=policy, vetter=vetter)
        yield _suite(folder, name, name.removesuffix(CUE) + TEST, [rule], [])
    yield from (Suite(policy=name, rules=(), faults=[fault]) for name, fault in folder.strange.items())
    for name in folder.tests():
        stem = name.removesuffix(TEST)
        if not {stem + YAML, stem + CUE} & {*policies, *folder.cue, *folder.strange}:
            yield Suite(policy=name, rules=(), faults=[f"{name}: there is no policy {stem}{YAML}."])


def _suite(
    folder: Folder, name: str, beside: str, rules: Sequence[PolicyRule | CueRule], faults: Sequence[str]
) -> Suite:
    if beside not in folder.tests():
        return Suite(policy=name, rules=rules, faults=[*faults, f"{name}: it has no cases; write {beside}."])
    cases, more = _cases(folder, folder.read(beside, "policy-test/v1"), rules, broken=bool(faults))
    return Suite(policy=name, rules=rules, cases=cases, faults=[*faults, *more])


def _cases(
    folder: Folder, file: File, rules: Sequence[PolicyRule | CueRule], *, broken: bool
) -> tuple[list[Case], list[str]]:
    """The usable cases, and the faults; with a broken policy a case may lack its rule without being at fault."""
    known = {rule.rule.id: rule for rule in rules}
    cases: list[Case] = []
    faults = list(file.faults)
    names: set[tuple[str, str]] = set()
    for index, raw in enumerate(file.document["cases"] if file.document else ()):
        place = file.source.place("cases", index)
        problems = list(_problems(folder, raw))
        if raw["rule"] not in known and not broken:
            problems.append(f"the policy has no rule {raw['rule']}")
        if (raw["rule"], raw["name"]) in names:
            problems.append("a case of this rule has this name already")
        if isinstance(known.get(raw["rule"]), CueRule) and ("params" in raw or "port" in raw):
            problems.append("a policy in CUE sees the facts only; drop params and port")
        names.add((raw["rule"], raw["name"]))
        faults += [f"{place}: {raw['rule']}: {raw['name']}: {problem}." for problem in problems]
        if raw["rule"] in known and not problems:
            cases.append(_case(folder, raw, place, known[raw["rule"]]))
    return cases, faults


def _case(folder: Folder, raw: Mapping[str, Any], place: str, rule: PolicyRule | CueRule) -> Case:
    return Case(
        place=place,
        rule=rule,
        name=raw["name"],
        facts=raw["facts"],
        params={name: param.value for name, param in folder.params.items()} | raw.get("params", {}),
        port=raw.get("port", {}),
        expect=Kind(raw["expect"]),
        message=raw.get("message"),
    )


def _problems(folder: Folder, raw: Mapping[str, Any]) -> Iterator[str]:
    for name in raw.get("params", {}):
        if name not in folder.params:
            yield f"policies/params.yaml declares no param {name}"
    for name, subject in raw["facts"].items():
        if not isinstance(subject, Mapping | None):
            yield f"facts.{name} is {subject!r}, not a map of members (null: the fact is missing)"
    for path in _paths(raw["facts"], ("facts",)):
        try:
            schemas_at(path, folder.facts)
        except NoSuchPath as error:
            yield str(error)


def _paths(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of all members: a case that names one that no fact has tests nothing."""
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _paths(item, (*path, name))
    elif isinstance(value, list) and value:
        for item in value:
            yield from _paths(item, (*path, "*"))
    else:
        yield path
