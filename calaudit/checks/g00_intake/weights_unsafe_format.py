"""No weight file runs code when it is opened.

Why: A pickle (.bin, .pt, .ckpt) is a program: reading the weights runs it, on the exporter's machine and the vendor's.
Fix: Convert the checkpoint to safetensors in a sandbox, and list only the safetensors files.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source import FOLDER, SourceManifest
from calaudit.facts.weights import PICKLES
from calaudit.model import Location, Result

_MAGIC = {b"PK\x03\x04": "a zip archive (torch.save)", b"\x80\x02}q": "a pickle", b"\x80\x02c": "a pickle",
          b"\x80\x04\x95": "a pickle", b"\x80\x02\x8a\nl": "a pickle (torch.save)"}  # fmt: skip


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
            first = view.evidence.head(path, 8)
            found = next((what for magic, what in _MAGIC.items() if first.startswith(magic)), None)
            if found is not None:
                yield view.fail(f"{path} is {found}, whatever its name says.", at=place, expected="safetensors")
