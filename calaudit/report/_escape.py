"""Making strings from an audited port harmless and visible.

A file name or a value can carry terminal escapes, line breaks that forge a line of the report, controls that reorder
what the reader sees, or commands that a CI system takes from a log. Nothing of that is removed: it is shown as the
escape that a programmer would write for it.
"""

import re

__all__ = ["INVISIBLE", "inert", "visible"]

INVISIBLE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # controls: C0 with line feed and ESC, DEL, C1 with the 8-bit CSI
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers, the Arabic letter mark
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"  # zero width, bidi, line separators
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"  # interlinear marks, noncharacters, lone surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # controls of shorthand and of music
    "\U000e0000-\U000e0fff"  # tags and selectors, which can carry hidden text
    "]"
)
"""One character that a reader cannot see, or that changes how the others are seen."""

_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_COMMAND = re.compile(r"##(?=\w*\[)")


def visible(text: str) -> str:
    """The text on one line, every invisible character as a backslash escape."""
    return INVISIBLE.sub(_shown, text)


def inert(line: str) -> str:
    """One line of a log, so that no CI system takes it for a command.

    GitHub obeys ``::command::`` after any white space at the start of a line, and ``##[command]`` anywhere in it; Azure
    Pipelines and TeamCity know ``##vso[`` and ``##teamcity[``.
    """
    body = line.lstrip()
    if body.startswith("::"):
        line = f"{line[: len(line) - len(body)]}\\x3a{body[1:]}"
    return _COMMAND.sub(r"\\x23#", line)


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
