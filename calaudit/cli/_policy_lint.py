"""What is wrong with rules as such: their metadata, their names, their cases, and what the contract says of them."""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from calaudit.checks import Check, discover
from calaudit.checks.catalogue import catalogue
from calaudit.cli._policy_cases import CueRule, Suite
from calaudit.cli._policy_demands import Subject, faults
from calaudit.cli._policy_files import Folder
from calaudit.contract import PolicyRule, load_contract
from calaudit.errors import ContractError
from calaudit.model import EVERY_GATE, PORT, Rule

__all__ = ["lint", "whole"]

_GATE = re.compile(r"policies/g(\d\d)-")


def lint(
    suites: Sequence[Suite], thresholds: AbstractSet[str], shown: Mapping[str, frozenset[str]] | None
) -> Iterator[str]:
    """A sentence for every fault of policies, their cases and the metadata of all rules, checks included.

    ``thresholds`` are the keys of the hard thresholds, ``shown`` the kinds that the case tables of checks show; None
    where there are no tables to look at.
    """
    for suite in suites:
        yield from suite.faults
        yield from suite.uncovered()
        for rule in suite.rules:
            yield from (f"{rule.place()}: {rule.rule.id}: {fault}." for fault in faults(_declared(rule, thresholds)))
            yield from _filed(suite, rule.rule)
    for item in discover():
        where = item.run.__module__
        yield from (f"{where}: {item.rule.id}: {fault}." for fault in faults(_written(item, thresholds, shown)))
    yield from _names(suites)


def whole(folder: Folder) -> Iterator[str]:
    """What shows only when policies, gates and checks come together: the contract as a run would load it."""
    try:
        catalogue(load_contract(folder.root, folder.overlays))
    except ContractError as error:
        yield str(error)


def _declared(rule: PolicyRule | CueRule, thresholds: AbstractSet[str]) -> Subject:
    dated = isinstance(rule, PolicyRule) and rule.effective_on is not None
    return Subject(rule=rule.rule, threshold=rule.rule.key in thresholds, dated=dated)


def _written(item: Check, thresholds: AbstractSet[str], shown: Mapping[str, frozenset[str]] | None) -> Subject:
    key = item.rule.key
    return Subject(
        rule=item.rule,
        threshold=key in thresholds,
        source=inspect.getsource(sys.modules[item.run.__module__]),
        shown=None if shown is None else shown.get(key, frozenset()),
    )


def _filed(suite: Suite, rule: Rule) -> Iterator[str]:
    found = _GATE.match(suite.policy)
    if found and rule.gate not in (EVERY_GATE, PORT, f"G{int(found[1])}"):
        yield f"{suite.policy}: {rule.id}: the file is named for G{int(found[1])}, its gate is {rule.gate}."


def _names(suites: Sequence[Suite]) -> Iterator[str]:
    keys = [rule.rule.key for suite in suites for rule in suite.rules] + [item.rule.key for item in discover()]
    for key, count in sorted(Counter(keys).items()):
        if count > 1:
            yield f"{key}: {count} rules have this name; rename all but one."
    common = {key.partition(".")[2] for key in keys if key.startswith("common.")}
    for key in sorted(set(keys)):
        if not key.startswith("common.") and key.partition(".")[2] in common:
            yield f"{key}: a rule of every gate has this id; rename one."
    if not keys:
        yield "policies: there are no rules at all."
