"""The results of one rule on one gate, whatever the rule does.

A rule that misses a fact is open; a rule that examined nothing is open; a rule that crashes is open and the run ends
with exit code 4.
"""

import logging
from dataclasses import replace

from calaudit.checks import Check
from calaudit.checks.view import View
from calaudit.errors import MissingFact
from calaudit.model import Kind, Result, Rule

__all__ = ["FINDINGS_LIMIT", "rule_results"]

FINDINGS_LIMIT = 1000
"""How many findings one rule may list on one gate; the rest is counted in one more."""

_LOG = logging.getLogger(__name__)
"""Tracebacks of crashed rules, at debug level: reports carry the sentence, never a machine's paths."""


def rule_results(item: Check, view: View, crashes: list[str]) -> list[Result]:
    """Run a rule; ``crashes`` gets a sentence if it does."""
    results: list[Result] = []
    dropped: dict[Kind, tuple[Result, int]] = {}
    try:
        for result in item.run(view):
            _check_spoken(item.rule, view, result)
            if len(results) < FINDINGS_LIMIT:
                results.append(result)
            else:
                first, count = dropped.get(result.kind, (result, 0))
                dropped[result.kind] = (first, count + 1)
    except MissingFact as missing:
        results.append(view.open(missing.message, at=missing.at))
    except Exception as error:  # noqa: BLE001 - a crash of one rule is a result (open) and an exit code, never a pass
        _LOG.debug("%s on %s crashed", item.rule.key, view.gate, exc_info=error)
        crashes.append(f"{item.rule.key} crashed on {view.gate} ({type(error).__name__}: {error}).")
        results.append(view.open(f"The rule crashed ({type(error).__name__}: {error}). Please report it."))
    # One for each kind: a failure beyond the limit still fails.
    results += [_summary(first, count) for first, count in dropped.values()]
    if not results:
        passed = view.examined > 0
        message = "" if passed else "Nothing was examined, so nothing can be said."
        results.append(
            Result(
                rule=item.rule.id,
                gate=view.gate,
                kind=Kind.PASS if passed else Kind.OPEN,
                level=item.rule.level,
                message=message,
                examined=view.examined,
            )
        )
    return [r if r.examined == view.examined else replace(r, examined=view.examined) for r in results]


def _check_spoken(rule: Rule, view: View, result: Result) -> None:
    """A rule speaks for itself, on its gate, at its level, and passes by silence only."""
    if result.kind not in rule.kinds:
        raise AssertionError(f"{rule.key} gave {result.kind}, which it does not declare")
    if result.kind is Kind.PASS:
        raise AssertionError(f"{rule.key} gave a pass; a rule passes by silence after it examined something")
    if (result.rule, result.gate, result.level) != (rule.id, view.gate, rule.level):
        raise AssertionError(f"{rule.key} gave a result of {result.gate}.{result.rule} at level {result.level}")


def _summary(first: Result, count: int) -> Result:
    return replace(first, message=f"… and {count} more of this rule.", location=None, expected=None, actual=None)
