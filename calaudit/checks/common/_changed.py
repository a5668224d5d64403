"""What became of a file that has another digest than it should, where its bytes can tell."""

from hashlib import sha256

from calaudit.checks.view import View
from calaudit.errors import MissingFact
from calaudit.evidence import Entry
from calaudit.evidence.parser_words import LFS

_SMALL = 4 << 20


def because(view: View, entry: Entry, wanted: object, it: str = "it") -> str:
    """What became of the file, to end a sentence with; ``wanted`` is the SHA-256 that it should have."""
    told = _told(view, entry, wanted)
    return f": {it} {told}" if told else ""


def _told(view: View, entry: Entry, wanted: object) -> str:
    if entry.size == 0:
        return "is empty"
    if entry.size > _SMALL:
        return ""
    try:
        data = view.evidence.read(entry.path)
    except MissingFact:  # it changed again: that it is another file stands all the same
        return ""
    if data.startswith(LFS):
        return "is a pointer of Git LFS"
    unix = data.replace(b"\r\n", b"\n")
    if wanted in (sha256(unix).hexdigest(), sha256(unix.replace(b"\n", b"\r\n")).hexdigest()):
        return "differs only in that its line endings were converted (see -text in .gitattributes)"
    return ""
