"""What a file or folder that the contract does not know may have been meant to be."""

import difflib
from collections.abc import Iterator
from functools import cache

from calaudit.checks.view import View
from calaudit.contract.gates import Gates
from calaudit.evidence.litter import JOURNAL, is_litter

HINTS = 50
"""For how many strangers a rule looks what they may be: comparing names takes time."""

_CLOSE = 0.75


def strangers(view: View) -> dict[str, list[str]]:
    """The files that the contract does not know, whatever gate they lie in, by the folder that is the strange one.

    The key of a file that lies in a folder of the contract is the file itself.
    """
    known = _folders(tuple(spec.pattern for spec in view.facts.contract.gates.artifacts()))
    found: dict[str, list[str]] = {}
    for path, entry in view.evidence.entries.items():
        if entry.spec is None and not is_litter(path) and not path.startswith(JOURNAL):
            parts = path.split("/")
            above = ("/".join(parts[:n]) for n in range(1, len(parts)))
            found.setdefault(next((folder for folder in above if folder not in known), path), []).append(path)
    return found


def meant_folder(view: View, folder: str) -> str | None:
    """The folder of the contract that a strange folder is probably meant to be."""
    known = _folders(tuple(spec.pattern for spec in view.facts.contract.gates.artifacts()))
    return _closest(folder, [name for name in known if name.count("/") == folder.count("/")])


def meant_file(view: View, path: str) -> str | None:
    """The artifact that a strange file is probably meant to be; one that is missing if there is one."""
    gates: Gates = view.facts.contract.gates
    missing = [s.pattern for s in gates.artifacts() if not s.is_glob and s.pattern not in view.evidence.entries]
    return _closest(path, missing)


def described(path: str) -> str:
    """A pattern in words: what it stands for."""
    if not any(c in path for c in "*?["):
        return path
    folder, _, name = path.rpartition("/")
    folder, deep = (folder.removesuffix("/**"), " or below it") if folder.endswith("**") else (folder, "")
    if name == "**":
        return f"any file in {folder or 'the port'}/ or below it"
    if name.startswith("*") and not any(c in name[1:] for c in "*?["):
        return f"a file that ends in {name[1:]} in {folder}/{deep}"
    return f"a file whose name fits {name} in {folder}/{deep}"


@cache
def _folders(patterns: tuple[str, ...]) -> frozenset[str]:
    return frozenset(folder for pattern in patterns for folder in _above(pattern))


def _above(pattern: str) -> Iterator[str]:
    folder = ""
    for segment in pattern.split("/")[:-1]:
        if any(c in segment for c in "*?["):
            return
        folder = f"{folder}/{segment}" if folder else segment
        yield folder


def _closest(name: str, known: list[str]) -> str | None:
    found = difflib.get_close_matches(name.casefold(), sorted(known), n=1, cutoff=_CLOSE)
    return found[0] if found else None
