"""The only walk: every name below a folder, without following a link, each folder opened relative to its parent.

Folders nest at most :data:`MAX_FOLDERS` deep. Nothing is skipped: dot files and ``.git`` are files like others. An
empty folder gives nothing: a port is its files. Names that collide in Unicode NFC stand for one path, so neither is
read.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field

from calaudit.evidence.found import Found, identity
from calaudit.evidence.names import Names, survey
from calaudit.garbage import uncollected
from calaudit.model import Kind, Location, Problem

MAX_FOLDERS = 128
"""How deep folders may nest; each level holds one descriptor open while its files are listed."""

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_FORMAT = 0o170000  # the bits of a mode that say what kind of file it is


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk saw: the files that can be read, the folders, and what is wrong with the tree."""

    files: list[Found] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def report(self, rule: str, path: str, message: str, *, kind: Kind = Kind.FAIL) -> None:
        """Note that something is wrong with a name."""
        self.problems.append(Problem(rule=rule, message=message, location=Location(path=path), kind=kind))


@dataclass(slots=True)
class _Folder:
    fd: int
    path: str
    raw: str
    pending: list[tuple[str, str]]


def walk(root: int) -> Walk:
    """Walk the folder behind an open descriptor (which stays open)."""
    with uncollected():
        return _walk(root)


def _walk(root: int) -> Walk:
    seen = Walk()
    open_folders = [_Folder(os.dup(root), "", "", [])]
    try:
        open_folders[0].pending = _list(open_folders[0], seen)
        while open_folders:
            folder = open_folders[-1]
            if not folder.pending:
                os.close(open_folders.pop().fd)
                continue
            name, shown = folder.pending.pop()
            child = _enter(folder, name, shown, seen)
            if child is None:
                continue
            open_folders.append(child)
            if len(open_folders) > MAX_FOLDERS:
                seen.report(
                    "file-unreadable",
                    child.path[:-1],
                    f"Folders nest deeper than {MAX_FOLDERS} levels; what is below was not read. Flatten the port.",
                    kind=Kind.OPEN,
                )
            else:
                seen.folders.add(child.path[:-1])
                child.pending = _list(child, seen)
    finally:
        for folder in open_folders:
            os.close(folder.fd)
    return seen


def _enter(folder: _Folder, name: str, shown: str, seen: Walk) -> _Folder | None:
    path = folder.path + shown
    try:
        fd = os.open(name, FOLDER_FLAGS, dir_fd=folder.fd)
    except OSError as error:
        _unreadable(seen, path, "folder", error)
        return None
    return _Folder(fd, f"{path}/", f"{folder.raw}{name}/", [])


def _list(folder: _Folder, seen: Walk) -> list[tuple[str, str]]:
    """Note the files of a folder and return its folders, as (name on disk, name in NFC)."""
    try:
        with os.scandir(folder.fd) as listing:
            entries = list(listing)
    except OSError as error:
        _unreadable(seen, folder.path[:-1] or ".", "folder", error)
        return []
    names = survey([entry.name for entry in entries])
    for fault in names.faults:
        seen.report(fault.rule, folder.path + fault.name, fault.message)
    if names.plain:
        return _plain(folder, entries, seen)
    return _odd(folder, entries, names, seen)


def _plain(folder: _Folder, entries: Iterable[os.DirEntry[str]], seen: Walk) -> list[tuple[str, str]]:
    """The common case, in which every name is printable ASCII and unique."""
    prefix, raw = folder.path, folder.raw
    same = prefix == raw
    folders = []
    append, new = seen.files.append, tuple.__new__
    form, regular = _FORMAT, stat.S_IFREG
    for entry in entries:
        name = entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                folders.append((name, name))
                continue
            st = entry.stat(follow_symlinks=False)
        except OSError as error:
            _unreadable(seen, prefix + name, "file", error)
            continue
        path = prefix + name
        if st.st_nlink == 1 and st.st_mode & form == regular:
            place = path if same else raw + name
            # Neither Found(…) nor identity(…): their calls would be a seventh of the walk.
            append(new(Found, (path, place, st.st_size, st.st_ino, st.st_dev, st.st_mtime_ns, st.st_ctime_ns)))
        else:
            _judge(path, raw + name, st, seen)
    return folders


def _odd(folder: _Folder, entries: Iterable[os.DirEntry[str]], names: Names, seen: Walk) -> list[tuple[str, str]]:
    folders = []
    for entry in entries:
        shown = names.shown.get(entry.name)
        if shown is None:
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.name, shown))
                continue
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            _unreadable(seen, folder.path + shown, "file", error)
            continue
        _judge(folder.path + shown, folder.raw + entry.name, status, seen)
    return folders


def _judge(path: str, raw: str, status: os.stat_result, seen: Walk) -> None:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        seen.report("symlink", path, "A symbolic link; a port holds regular files only. Put the file itself here.")
        return
    if not stat.S_ISREG(mode):
        kind = _SPECIAL.get(stat.S_IFMT(mode), "special file")
        seen.report("special-file", path, f"A {kind}; a port holds regular files only. Remove it.")
        return
    if status.st_nlink > 1:
        seen.report(
            "hard-link",
            path,
            f"The file has {status.st_nlink} names (hard links), so it can change from elsewhere. Copy it.",
        )
    seen.files.append(Found(path, raw, *identity(status)))


def _unreadable(seen: Walk, path: str, what: str, error: OSError) -> None:
    seen.report(
        "file-unreadable",
        path,
        f"The {what} cannot be read ({error.strerror}); make it readable, then run again.",
        kind=Kind.OPEN,
    )


_SPECIAL = {
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}
