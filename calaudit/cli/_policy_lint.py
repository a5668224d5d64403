"""What is wrong with rules as such: their ids, their prose, and what the contract says of them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from calaudit.checks import discover
from calaudit.checks.catalogue import catalogue
from calaudit.cli._policy_cases import Suite
from calaudit.cli._policy_files import Folder
from calaudit.contract import load_contract
from calaudit.errors import ContractError
from calaudit.model import EVERY_GATE, PORT, Kind, Rule

__all__ = ["lint", "whole"]

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TITLE_LIMIT = 100
_GATE = re.compile(r"policies/g(\d\d)-")


def lint(suites: Sequence[Suite]) -> Iterator[str]:
    """A sentence for every fault of policies, their cases and the metadata of all rules, checks included."""
    for suite in suites:
        yield from suite.faults
        yield from suite.uncovered()
        for rule in suite.rules:
            yield from (f"{rule.place()}: {rule.rule.id}: {fault}." for fault in _metadata(rule.rule))
            yield from _filed(suite, rule.rule)
    for item in discover():
        where = item.run.__module__
        yield from (f"{where}: {item.rule.id}: {fault}." for fault in _metadata(item.rule))
    yield from _names(suites)


def whole(folder: Folder) -> Iterator[str]:
    """What shows only when policies, gates and checks come together: the contract as a run would load it."""
    try:
        catalogue(load_contract(folder.root))
    except ContractError as error:
        yield str(error)


def _metadata(rule: Rule) -> Iterator[str]:
    if not _ID.fullmatch(rule.id):
        yield "an id is kebab-case (lower-case words joined by hyphens)"
    if len(rule.title) > _TITLE_LIMIT:
        yield f"the title has {len(rule.title)} characters; {_TITLE_LIMIT} fit into a line of a report"
    for name, text in (("title", rule.title), ("why", rule.why), ("fix", rule.fix)):
        if not text.strip():
            yield f"{name} is empty"
        elif text[0].islower() and text.split()[0].isalpha():
            yield f"{name} begins with a small letter"
    for name, text in (("why", rule.why), ("fix", rule.fix)):
        if text.strip() and text.rstrip()[-1] not in ".!?":
            yield f"{name} is a sentence and ends with a full stop"
    if not rule.kinds & {Kind.FAIL, Kind.OPEN}:
        yield "a rule that can neither fail nor be open judges nothing"


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
