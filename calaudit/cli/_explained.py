"""Everything that can be told about a rule without a port."""

import ast
import difflib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from calaudit.checks import Check
from calaudit.checks.catalogue import catalogue
from calaudit.contract import Contract, PolicyRule
from calaudit.contract.policy_folder import CUE
from calaudit.errors import UsageError
from calaudit.model import EVERY_GATE, PORT, Kind, Level, Rule

__all__ = ["Explained", "explained", "find"]


@dataclass(frozen=True, kw_only=True)
class Explained:
    """A rule, where it is written, and what it judges by.

    ``expressions`` holds a policy's CEL; ``threshold`` says that the gate cannot pass without the rule; ``pending``
    that this version of calaudit does not judge it yet; ``stops`` that what is open blocks other gates, not its own.
    """

    rule: Rule
    gate_title: str
    back_to: str
    where: str
    params: tuple[str, ...] = ()
    expressions: Mapping[str, str]
    effective_on: date | None = None
    threshold: bool = False
    pending: bool = False
    stops: bool = False

    def document(self) -> dict[str, Any]:
        """The same as JSON data."""
        rule = self.rule
        return {
            "key": rule.key,
            "id": rule.id,
            "gate": rule.gate,
            "level": str(rule.level),
            "title": rule.title,
            "why": rule.why,
            "fix": rule.fix,
            "kinds": sorted(map(str, rule.kinds)),
            "back_to": self.back_to,
            "tier": rule.tier,
            "where": self.where,
            "params": list(self.params),
            "expressions": dict(self.expressions),
            "effective_on": None if self.effective_on is None else self.effective_on.isoformat(),
            "hard_threshold": self.threshold,
            "waivable": not rule.unwaivable,
            "needs_trust": rule.trust,
            "since": rule.since,
            "pending": self.pending,
            "blocks_other_gates": self.stops,
        }


def explained(contract: Contract) -> list[Explained]:
    """Every rule of a contract by its key, and the hard thresholds that no rule judges yet."""
    policies = {policy.rule.key: policy for policy in contract.policies}
    written = {f"{PORT}.{policy.name.removesuffix(CUE)}": policy.where for policy in contract.cue}
    found = [
        _explain(item, policies.get(item.rule.key), contract, written.get(item.rule.key))
        for item in catalogue(contract)
    ]
    known = {item.rule.key for item in found}
    for gate in contract.gates.gates.values():
        found += [_pending(gate.id, rule, contract) for rule in gate.threshold if f"{gate.id}.{rule}" not in known]
    order = {gate: n for n, gate in enumerate([EVERY_GATE, PORT, *contract.gates.gates])}
    return sorted(found, key=lambda item: (order[item.rule.gate], item.rule.id))


def find(rules: Sequence[Explained], name: str) -> list[Explained]:
    """The rules called ``name``: one by its key, or every gate's by their id.

    Raises:
        UsageError: there is none; the message names the nearest.
    """
    wanted = name.replace("_", "-").casefold()
    found = [item for item in rules if wanted in (item.rule.key.casefold(), item.rule.id)]
    if not found:
        names = {item.rule.id for item in rules} | {item.rule.key for item in rules}
        near = difflib.get_close_matches(name, sorted(names), n=3, cutoff=0.5)
        hint = f"Near are {', '.join(near)}." if near else "`calaudit explain --list` lists them."
        raise UsageError(f"There is no rule or gate {name!r}. {hint}")
    return found


def _explain(item: Check, policy: PolicyRule | None, contract: Contract, cue: str | None) -> Explained:
    rule = item.rule
    gate = contract.gates.gates.get(rule.gate)
    params: tuple[str, ...] = ()
    expressions: dict[str, str] = {}
    stops = False
    if cue is not None:
        where = cue
    elif policy is None:
        module = item.run.__module__
        where, params, stops = _file(module), _params(module, contract), _stops(module)
    else:
        where, params = policy.place(), policy.params
        expressions = {name: " ".join(found.source.split()) for name, found in policy.expressions().items()}
    return Explained(
        rule=rule,
        gate_title=gate.title
        if gate
        else {EVERY_GATE: "Every gate and the port"}.get(rule.gate, "The port as a whole"),
        back_to=rule.back_to or (gate.back_to if gate else ""),
        where=where,
        params=params,
        expressions=expressions,
        effective_on=None if policy is None else policy.effective_on,
        threshold=gate is not None and rule.id in gate.threshold,
        stops=stops,
    )


def _pending(gate_id: str, rule_id: str, contract: Contract) -> Explained:
    gate = contract.gates.gates[gate_id]
    rule = Rule(
        id=rule_id,
        gate=gate_id,
        level=Level.ERROR,
        title="A hard threshold that this version cannot judge",
        why="A gate must not pass by rules that nobody evaluated, so it stays incomplete.",
        fix="Use a version of calaudit that has this rule.",
        kinds=frozenset({Kind.OPEN}),
        unwaivable=True,
    )
    return Explained(
        rule=rule,
        gate_title=gate.title,
        back_to=gate.back_to,
        where="policies/gates.yaml",
        expressions={},
        threshold=True,
        pending=True,
    )


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _stops(module: str) -> bool:
    """Whether a check names gates that its findings block."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return any(isinstance(node, ast.keyword) and node.arg == "blocked_gates" for node in ast.walk(tree))


def _params(module: str, contract: Contract) -> tuple[str, ...]:
    """The params that a check names; what its facts and helpers read besides is not seen."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return tuple(sorted(words & set(contract.params)))
