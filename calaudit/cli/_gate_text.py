"""What a gate needs, told without a port: its files, its rules, who answers for it, what it builds on."""

import textwrap
from collections.abc import Sequence
from typing import Any

from calaudit.cli._explained import Explained
from calaudit.model import EVERY_GATE, ArtifactSpec, Gate

__all__ = ["gate_document", "gate_text"]

_WIDTH = 80
_LABEL = 11
_EACH = "[warning] and [note] decide nothing, and [pending] leaves it open."


def gate_text(gate: Gate, rules: Sequence[Explained]) -> str:
    """The gate for people; ``rules`` are all rules of the contract."""
    own, common = _of(gate, rules)
    rows = [
        ("owner", ", co-signed by ".join(filter(None, (gate.owner, ", ".join(gate.cosigners))))),
        ("output", gate.output),
        ("builds on", ", ".join(gate.depends) or "nothing"),
        ("back to", gate.back_to),
    ]
    lines = [f"{gate.id} {gate.title}"]
    for label, text in rows:
        indent = " " * (_LABEL + 2)
        lines += textwrap.wrap(text, _WIDTH, initial_indent=f"  {label:<{_LABEL}}", subsequent_indent=indent)
    for heading, required in (("Files it needs", True), ("Files it may have", False)):
        specs = [spec for spec in gate.artifacts if spec.required is required]
        lines += ["", heading, *(_file(spec) for spec in specs)] if specs else []
    lines += ["", "Rules (+: a hard threshold, which no waiver covers). Each fails the gate, but", _EACH]
    width = max((len(item.rule.id) for item in own), default=0) + 5
    for item in own:
        first = f"  {'+' if item.threshold else ' '} {item.rule.id:<{width - 4}}"
        level = "pending" if item.pending else str(item.rule.level)
        title = item.rule.title if level == "error" else f"[{level}] {item.rule.title}"
        lines += textwrap.wrap(title, _WIDTH, initial_indent=first, subsequent_indent=" " * width)
    lines += ["", f"Besides, the {len(common)} rules of every gate; `calaudit explain --list` lists them."]
    lines += ["`calaudit schema show NAME --text` describes a schema, `calaudit explain RULE` a rule.", ""]
    return "\n".join(lines)


def gate_document(gate: Gate, rules: Sequence[Explained]) -> dict[str, Any]:
    """The same as JSON data."""
    own, common = _of(gate, rules)
    return {
        "id": gate.id,
        "title": gate.title,
        "owner": gate.owner,
        "cosigners": list(gate.cosigners),
        "output": gate.output,
        "depends": list(gate.depends),
        "back_to": gate.back_to,
        "artifacts": [
            {"name": s.name, "path": s.pattern, "format": str(s.format), "schema": s.schema, "required": s.required}
            for s in gate.artifacts
        ],
        "rules": [item.rule.key for item in own],
        "thresholds": list(gate.threshold),
        "common_rules": [item.rule.key for item in common],
    }


def _of(gate: Gate, rules: Sequence[Explained]) -> tuple[list[Explained], list[Explained]]:
    own = [item for item in rules if item.rule.gate == gate.id]
    return own, [item for item in rules if item.rule.gate == EVERY_GATE]


def _file(spec: ArtifactSpec) -> str:
    schema = f", schema {spec.schema}" if spec.schema else ""
    return f"  {spec.pattern}  ({spec.format}{schema})"
