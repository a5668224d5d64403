"""Checks: rules in Python, one a file, discovered and never listed.

A check module's docstring is the rule's documentation: its first line is the title, ``Why:`` and ``Fix:`` the two
paragraphs that every finding can show. The decorated generator yields results for what is wrong; silence after having
examined something is a pass, silence after nothing is open.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from calaudit.checks.view import View
from calaudit.errors import ContractError
from calaudit.model import Kind, Level, Result, Rule

__all__ = ["Check", "View", "check", "discover"]

Run = Callable[[View], Iterator[Result]]


@dataclass(frozen=True, slots=True)
class Check:
    """A rule and the generator that judges it."""

    rule: Rule
    run: Run


def check(  # noqa: PLR0913 - one keyword a property of a rule
    rule_id: str,
    *,
    gate: str,
    level: Literal["error", "warning", "note"] = "error",
    kinds: tuple[Literal["pass", "fail", "open", "notApplicable"], ...] = ("pass", "fail", "open"),
    trust: bool = False,
    unwaivable: bool = False,
    back_to: str | None = None,
    since: str = "0.1",
) -> Callable[[Run], Check]:
    """Declare a check.

    ``gate`` is a gate id, ``*`` for a rule planned on every gate and on the port, or ``port``. ``kinds`` are the result
    kinds it can give: each needs a case in ``tests/cases``.

    Raises:
        ContractError: the module's docstring lacks its title, Why or Fix.
    """

    def wrap(run: Run) -> Check:
        title, why, fix = read_prose(sys.modules[run.__module__].__doc__ or "", run.__module__)
        return Check(
            Rule(
                id=rule_id,
                gate=gate,
                level=Level(level),
                title=title,
                why=why,
                fix=fix,
                kinds=frozenset(Kind(k) for k in kinds),
                since=since,
                trust=trust,
                unwaivable=unwaivable,
                back_to=back_to,
            ),
            run,
        )

    return wrap


def read_prose(docstring: str, where: str) -> tuple[str, str, str]:
    """Title, Why and Fix of a check module's docstring, each unwrapped to one line."""
    title, _, rest = docstring.strip().partition("\n")
    why = re.search(r"^Why: (.+?)(?=\n\s*\n|\nFix: |\Z)", rest, re.DOTALL | re.MULTILINE)
    fix = re.search(r"^Fix: (.+?)(?=\n\s*\n|\nWhy: |\Z)", rest, re.DOTALL | re.MULTILINE)
    if not title or why is None or fix is None:
        raise ContractError(f"{where}: a check's docstring needs a title line, 'Why: …' and 'Fix: …'.")
    return title.strip().removesuffix("."), _one_line(why[1]), _one_line(fix[1])


def _one_line(text: str) -> str:
    # A compound that the docstring breaks at its hyphen (``reference-`` / ``report.json``) stays one word.
    return " ".join(re.sub(r"(?<=\w-)\n\s*(?=\w)", "", text).split())


@cache
def discover() -> tuple[Check, ...]:
    """Every check in this package, by its key.

    Raises:
        ContractError: two checks have one key, or a module of a gate package holds none.
    """
    found: dict[str, Check] = {}
    for info in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        if info.ispkg or info.name.count(".") < 3 or info.name.rpartition(".")[2].startswith("_"):
            continue  # the tools of this package (view, policy_rule) and private helpers hold no check
        module = importlib.import_module(info.name)
        checks = [v for v in vars(module).values() if isinstance(v, Check)]
        if len(checks) != 1:
            raise ContractError(f"{info.name} holds {len(checks)} checks; a check module holds exactly one.")
        key = checks[0].rule.key
        if key in found:
            raise ContractError(f"Two checks are called {key}; the second is in {info.name}.")
        found[key] = checks[0]
    return tuple(found[key] for key in sorted(found))
