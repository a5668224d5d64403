"""How much a rule weighs: levels that an overlay raises, and rules that weigh less before their date.

A rule with ``effective_on`` needs a clock, and a technical verdict must not: such a rule counts for the gate verdict
only, before its date (as a warning) and after it. So signoffs, which bind technical verdicts, do not age by it.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from calaudit.checks import Check, View
from calaudit.contract import PolicyRule, Tightening
from calaudit.errors import ContractError, MissingFact
from calaudit.model import Level, Result

__all__ = ["judged_on", "raised"]

_WEIGHT = {Level.NOTE: 0, Level.WARNING: 1, Level.ERROR: 2}


def raised(rules: Iterable[Check], tightenings: Sequence[Tightening], today: date) -> tuple[Check, ...]:
    """The rules at the levels that overlays raise them to.

    Those that are not yet in force today are checked all the same.

    Raises:
        ContractError: a rule does not exist, or the level is below the rule's own.
    """
    found = {item.rule.key: item for item in rules}
    levels = {key: item.rule.level for key, item in found.items()}
    for tightening in tightenings:
        for key, level in tightening.levels.items():
            if key not in found:
                near = difflib.get_close_matches(key, found, n=1)
                hint = f" Did you mean {near[0]}?" if near else ""
                raise ContractError(f"{tightening.where}: there is no rule {key}.{hint}")
            rule = found[key].rule
            if _WEIGHT[level] < _WEIGHT[rule.level]:
                why = "nothing lowers a rule that is unwaivable" if rule.unwaivable else "an overlay only raises levels"
                raise ContractError(
                    f"{tightening.where}: {key} is set to {level}, and the rule is {rule.level}: {why}."
                )
            if tightening.counts(today):
                levels[key] = max(levels[key], level, key=_WEIGHT.__getitem__)
    return tuple(
        item if levels[key] is item.rule.level else replace(item, rule=replace(item.rule, level=levels[key]))
        for key, item in found.items()
    )


def judged_on(today: date, rules: Iterable[Check], policies: Iterable[PolicyRule]) -> tuple[Check, ...]:
    """The rules as they weigh on a day: a dated one is a warning until its date, and says so."""
    dates = {policy.rule.key: policy.effective_on for policy in policies if policy.effective_on is not None}
    return tuple(_dated(item, dates[item.rule.key], today) if item.rule.key in dates else item for item in rules)


def _dated(item: Check, effective_on: date, today: date) -> Check:
    rule = replace(item.rule, trust=True)
    if today >= effective_on or rule.level is not Level.ERROR:
        return replace(item, rule=rule)

    def run(view: View) -> Iterator[Result]:
        for result in _told(item, view):
            counts = f" From {effective_on} on this is an error." if result.is_finding else ""
            yield replace(result, message=f"{result.message}{counts}")

    return Check(replace(rule, level=Level.WARNING), run)


def _told(item: Check, view: View) -> Iterator[Result]:
    """What a rule says, with the results that silence and a missing fact amount to."""
    silent = True
    try:
        for result in item.run(view):
            silent = False
            yield result
    except MissingFact as missing:
        silent = False
        yield view.open(missing.message, at=missing.at)
    if silent and view.examined == 0:
        yield view.open("Nothing was examined, so nothing can be said.")
