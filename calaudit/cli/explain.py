"""``calaudit explain``: what a rule demands, why, and how to fix a finding."""

import textwrap
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._shared import emit, policy_option

if TYPE_CHECKING:
    from calaudit.cli._explained import Explained
    from calaudit.contract import Contract

__all__ = ["command"]

_WIDTH = 80
_LABEL = 11


@click.command("explain", epilog="Exit: 0 told, 2 there is no such rule or gate.")
@click.argument("rule", required=False, metavar="RULE")
@click.option("--list", "list_all", is_flag=True, help="List every rule.")
@policy_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def command(ctx: click.Context, rule: str | None, policies: Sequence[Path], *, list_all: bool, as_json: bool) -> int:
    """Tell what a rule demands, why, and how to fix a finding.

    RULE is an id, for the rule of that id on every gate that has one (greedy-mismatch), or a key, for one of them
    (G2.greedy-mismatch). The id of a gate (G2) tells what the gate needs: files, rules, owner.
    """
    if (rule is None) != list_all:
        ctx.fail("Name one rule, or give --list.")
    from calaudit.cli._explained import explained, find
    from calaudit.contract import load_contract

    contract = load_contract(overlays=policies)
    rules = explained(contract)
    gate = contract.gates.gates.get((rule or "").upper())
    if gate is not None:
        from calaudit.cli._gate_text import gate_document, gate_text
        from calaudit.report.json_report import dumps

        emit(dumps({"gates": [gate_document(gate, rules)]}) if as_json else gate_text(gate, rules))
        return 0
    chosen = rules if rule is None else find(rules, rule)
    if as_json:
        from calaudit.report.json_report import dumps

        emit(dumps({"rules": [item.document() for item in chosen]}))
    elif rule is None:
        emit(_table(chosen))
    else:
        emit("\n".join(_text(item, contract) for item in chosen))
    return 0


def _table(rules: "Sequence[Explained]") -> str:
    """The rules under the headings of their gates; the level where it is not error."""
    width = max(len(item.rule.id) for item in rules) + 4
    lines: list[str] = []
    for heading, items in groupby(rules, key=_gate):
        lines += ["", heading] if lines else [heading]
        for item in items:
            level = "pending" if item.pending else str(item.rule.level)
            title = item.rule.title if level == "error" else f"[{level}] {item.rule.title}"
            first = f"  {item.rule.id:<{width - 2}}"
            lines += textwrap.wrap(title, _WIDTH, initial_indent=first, subsequent_indent=" " * width)
    return "\n".join([*lines, "", f"{len(rules)} rules", ""])


def _text(item: "Explained", contract: "Contract") -> str:
    rule = item.rule
    head = f"{rule.key}: {rule.title}"
    rows = [
        ("why", rule.why),
        ("fix", rule.fix),
        ("level", _level(item)),
        ("gate", _gate(item)),
        ("back to", item.back_to),
        ("results", ", ".join(sorted(map(str, rule.kinds)))),
        *item.expressions.items(),
        *(("param", _param(name, contract)) for name in item.params),
        ("waivable", "no" if rule.unwaivable else "yes, by a signed waiver that expires (`calaudit waive`)"),
        (
            "effective",
            f"from {item.effective_on} on; until then its findings are warnings" if item.effective_on else "",
        ),
        ("where", item.where),
        ("since", rule.since),
    ]
    lines = textwrap.wrap(head, _WIDTH, subsequent_indent="  ", break_long_words=False)
    for label, text in rows:
        if text:
            indent = " " * (_LABEL + 2)
            lines += textwrap.wrap(
                text, _WIDTH, initial_indent=f"  {label:<{_LABEL}}", subsequent_indent=indent, break_long_words=False
            )
    return "\n".join([*lines, ""])


def _gate(item: "Explained") -> str:
    return item.gate_title if item.rule.gate in ("*", "port") else f"{item.rule.gate} {item.gate_title}"


def _level(item: "Explained") -> str:
    if item.stops:
        return f"{item.rule.level}; blocks the gates that cannot do without what is missing, decides no other verdict"
    weighs = {"error": "decides the verdict"}.get(str(item.rule.level), "never decides a verdict")
    hard = "; a hard threshold, which no waiver covers" if item.threshold else ""
    needs = "a clock" if item.effective_on else "signatures"
    trust = f"; needs {needs}, so it does not count for the technical verdict" if item.rule.trust else ""
    return f"{item.rule.level}, {weighs}{hard}{trust}"


def _param(name: str, contract: "Contract") -> str:
    param = contract.params[name]
    unit = f" {param.unit}" if param.unit else ""
    value = list(param.value) if isinstance(param.value, tuple) else param.value
    return f"{name} = {value}{unit} by default, stricter {param.stricter}: {param.title}"
