"""No weight file runs code when it is opened.

Why: A pickle (.bin, .pt, .ckpt) is a program: reading the weights runs it, on the exporter's machine and the vendor's.
Fix: Convert the checkpoint to safetensors in a sandbox, and list only the safetensors files.
"""

import re
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.manifest import FOLDER, SourceManifest
from calaudit.facts.source.weights import PICKLES
from calaudit.model import Location, Result

_PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95|\x8a|[\]}]q|c|.{2}(?!\0{4}))", re.DOTALL)
"""PROTO 2 to 5, then a usual opcode, or anything but the length of a safetensors header, whose upper half is zero."""


@check("weights-unsafe-format", gate="G0", unwaivable=True)
def weights_unsafe_format(view: View) -> Iterator[Result]:
    """Look at the names of all source files, and at the first bytes of those that are here."""
    source = view.fact(SourceManifest)
    listed = {file.path: file.at for file in source.files}
    present = {entry.path for entry in view.evidence.matching(f"{FOLDER}**")}
    for path in view.each(sorted(present | listed.keys())):
        place = Location(path=path) if path in present else listed[path]
        if path.lower().endswith(PICKLES):
            yield view.fail(f"{path} is in a pickle format.", at=place, expected="safetensors")
        elif path in present:
            found = _what_runs(view.evidence.head(path, 128))
            if found is not None:
                yield view.fail(f"{path} is {found}, whatever its name says.", at=place, expected="safetensors")


def _what_runs(first: bytes) -> str | None:
    """What a file is by its first bytes, if opening it may run code."""
    if first.startswith(b"PK\x03\x04"):
        return "a zip archive (torch.save)"
    if first.startswith(b"\x93NUMPY") and b"|O" in first:
        return "an array of pickled objects"
    return "a pickle" if _PICKLE.match(first) else None
