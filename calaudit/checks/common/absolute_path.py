"""No absolute path of a machine is in what a release publishes.

Why: Such a path works on one machine, and tells everybody who its users are and how its disks are laid out.
Fix: Write the path relative to the port, or as a content-addressed URI; export again without debug information if it is
inside a graph.
"""

import re
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._scan import has_no_free_text, is_text, matches
from calaudit.evidence import Block, Entry
from calaudit.model import Format, Location, Result

_ROOTS = b"home|root|Users|tmp|var|opt|usr|mnt|media|srv|private|workspace|data|scratch"
_PATH = re.compile(
    rb"(?<![\w.:/\\%})-])(?:/(?:" + _ROOTS + rb")/[\w.@+-]+(?:/[\w.@+-]+)*|file:///[\w./@+-]+)"
    rb"|(?<![\w/])[A-Z]:\\{1,2}[\w.@+-]+(?:\\{1,2}[\w.@+-]+)+"
)
_ALLOWED = re.compile(rb"/usr/(?:local/)?bin/(?:env|python3?|bash|sh)\b|/tmp/?$")
"""Interpreters are named by their place on every system."""


def machine_paths(block: Block) -> Iterator[tuple[bytes, int]]:
    """Every place on one machine that a text names, with its line."""
    for match, line in matches(_PATH, block):
        if not _ALLOWED.match(match[0]):
            yield match[0], line


@check("absolute-path", gate="*", kinds=("pass", "fail", "open", "notApplicable"))
def absolute_path(view: View) -> Iterator[Result]:
    """Search the texts that the port's makers write, and the strings inside graphs."""
    for entry in view.each(e for e in view.entries() if _is_ours(e)):
        data = view.evidence.read(entry.path)
        if b"/" not in data and b"\\" not in data:
            continue
        is_graph = entry.spec is not None and entry.spec.format is Format.ONNX
        for named, line in machine_paths(Block(1, data)):
            yield view.fail(
                "This names a place on one machine.",
                at=Location(path=entry.path, line=None if is_graph else line),
                actual=named.decode("utf-8", "replace"),
            )
            if is_graph:
                break  # an exporter's stack traces repeat one folder a thousand times
    if view.examined == 0:
        yield view.not_applicable("There is no text here.")


def _is_ours(entry: Entry) -> bool:
    spec = entry.spec
    if spec is None or spec.machine_paths:
        return False
    return spec.format is Format.ONNX or (is_text(entry) and has_no_free_text(entry))
