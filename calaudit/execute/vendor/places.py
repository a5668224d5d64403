"""Names from outside: what a path may look like, and whether two of them are one file somewhere.

Nothing is repaired. A name that two systems could read in two ways is refused.
"""

import unicodedata
from collections.abc import Iterable, Iterator

from calaudit.errors import Malformed
from calaudit.evidence.names import escape, fold, is_control

__all__ = ["DEPTH_MAX", "NAME_MAX", "SEGMENT_MAX", "Places", "read_name"]

NAME_MAX = 1024
"""Bytes of a whole path."""

SEGMENT_MAX = 255
"""Bytes of one name in it: what file systems take."""

DEPTH_MAX = 64
"""Names in a path: each folder above a file is remembered, so depth costs its square."""


def read_name(raw: bytes) -> str:
    """The port-relative path that a member of an archive is called; empty for the archive's own folder (``./``).

    One ``./`` in front is what ``tar`` writes for ``tar -cf x.tar .``, and means nothing; a ``/`` at the end says that
    it is a folder.

    Raises:
        Malformed: it leads out of the port, or could be read in two ways.
    """
    if raw in (b".", b"./"):
        return ""
    shown = ascii(escape(raw.decode("utf-8", "surrogateescape")))
    try:
        name = raw.decode("utf-8").removeprefix("./").removesuffix("/")
    except UnicodeDecodeError as error:
        raise Malformed(f"The name {shown} is not UTF-8.") from error
    _demand_plain(name, shown)
    _demand_segments(name, shown)
    return name


def _demand_plain(name: str, shown: str) -> None:
    """Refuse what is not relative, or not one name everywhere."""
    if len(name.encode()) > NAME_MAX:
        raise Malformed(f"The name {shown[:80]}… has more bytes than {NAME_MAX}.")
    if name.startswith("/") or "\\" in name or name[1:2] == ":":
        raise Malformed(f"The name {shown} is absolute, or a path of another system; names are relative to the port.")
    if unicodedata.normalize("NFC", name) != name:
        raise Malformed(f"The name {shown} is not in Unicode NFC, so that it is two names on some systems.")
    if any(is_control(character) for character in name):
        raise Malformed(f"The name {shown} holds a character that nobody sees.")


def _demand_segments(name: str, shown: str) -> None:
    """Refuse segments that lead elsewhere, or that a system shortens."""
    segments = name.split("/")
    if len(segments) > DEPTH_MAX:
        raise Malformed(f"The name {shown[:80]}… has {len(segments)} segments; at most {DEPTH_MAX} are read.")
    for segment in segments:
        if segment in ("", ".", ".."):
            raise Malformed(f"The name {shown} has a segment {segment!r}; names go straight down.")
        if len(segment.encode()) > SEGMENT_MAX:
            raise Malformed(f"A segment of the name {shown[:80]}… has more than {SEGMENT_MAX} bytes.")
        if segment != segment.rstrip(" ."):
            raise Malformed(f"The name {shown} has a segment that ends with a dot or a blank.")


class Places:
    """Paths that can lie side by side on every file system.

    Each folder has one spelling; what is a file is not a folder too.
    """

    def __init__(self, there: Iterable[str] = ()) -> None:
        """``there`` are the files that exist already: they may be met again, under the same spelling."""
        self._spelled: dict[str, str] = {}
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._new: set[str] = set()
        for path in there:
            self._enter(path)

    def add_file(self, path: str) -> None:
        """Take a path for a file.

        Raises:
            Malformed: it is taken: by itself, by a name that differs in case or Unicode form only, or by a folder.
        """
        if path in self._new:
            raise Malformed(f"{path} is there twice.")
        self._enter(path)
        self._new.add(path)

    def add_folder(self, path: str) -> None:
        """Note a folder; it may be met many times.

        Raises:
            Malformed: a file has its name, or it is spelled in two ways.
        """
        for part in (*_above(path), path):
            self._folder(part)

    def _enter(self, path: str) -> None:
        for part in _above(path):
            self._folder(part)
        self._spell(path)
        if path in self._folders:
            raise Malformed(f"{path} is a file, and a folder.")
        self._files.add(path)

    def _folder(self, path: str) -> None:
        self._spell(path)
        if path in self._files:
            raise Malformed(f"{path} is a file, and a folder.")
        self._folders.add(path)

    def _spell(self, path: str) -> None:
        known = self._spelled.setdefault(fold(path), path)
        if known != path:
            raise Malformed(
                f"{path!a} and {known!a} differ in letter case or Unicode form only: one name on some systems."
            )


def _above(path: str) -> Iterator[str]:
    """The folders that a path lies in, outermost first."""
    segments = path.split("/")
    for depth in range(1, len(segments)):
        yield "/".join(segments[:depth])
