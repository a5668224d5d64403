"""Where a value stands in a YAML file: asked only when there is an error to report.

The strict parser hands out values without their places, so the file is composed once more (it was vetted before) and
the value's characters are laid over its source: folding and indentation move white space only.
"""

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True)
class Source:
    """A YAML file of the contract; ``name`` is what messages call it, ``path`` None where there is no file (tests)."""

    name: str
    path: Path | None = None

    def place(self, *steps: str | int, at: int = 0) -> str:
        """``name:line:column`` of the character ``at`` of the value that the steps lead to; never raises.

        Where the place is unknown the name alone, or the start of the nearest value that has one.
        """
        try:
            text = self.path.read_text(encoding="utf-8") if self.path else ""
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            return self.name
        if node is None:
            return self.name
        for step in steps:
            found = _child(node, step)
            if found is None:
                break
            node = found
        mark = node.start_mark
        line, column = mark.line + 1, mark.column + 1
        if isinstance(node, yaml.ScalarNode):
            line, column = _inside(text, node, at)
        return f"{self.name}:{line}:{column}"


def _child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        child = node.value[step]
        return child if isinstance(child, yaml.Node) else None
    return None


def _inside(text: str, node: yaml.ScalarNode, at: int) -> tuple[int, int]:
    """Line and column (from 1) of character ``at`` of a scalar's value; its start where quoting hides the place."""
    raw = text[node.start_mark.index : node.end_mark.index]
    offset = _skip(raw, node)
    for char in node.value[:at]:
        if char.isspace():
            continue
        offset = _next(raw, offset)
        if node.style == "'" and char == "'":
            offset += 1  # written twice
        elif node.style == '"' and raw[offset : offset + 1] == "\\":
            offset += 1
            if raw[offset : offset + 1] not in ('"', "\\", "/"):
                offset = 0  # an escape of another length
                break
        offset += 1
    if at and offset:
        following = node.value[at : at + 1]
        offset = _next(raw, offset) if following and not following.isspace() else offset
    offset = min(offset, len(raw))
    before = raw[:offset]
    line = node.start_mark.line + before.count("\n")
    column = len(before) - before.rfind("\n") - 1 if "\n" in before else node.start_mark.column + offset
    return line + 1, column + 1


def _skip(raw: str, node: yaml.ScalarNode) -> int:
    """Where a scalar's content begins: after its quote or block header."""
    if node.style in ("'", '"'):
        return 1
    if node.style in ("|", ">"):
        return _next(raw, raw.find("\n") + 1)
    return 0


def _next(raw: str, offset: int) -> int:
    while offset < len(raw) and raw[offset].isspace():
        offset += 1
    return offset
