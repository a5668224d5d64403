"""Files that tools and desktops leave behind: no part of a port, and no sign that a gate was begun."""

JOURNAL = ".calaudit/"
"""Where a run keeps its journal while it publishes: no litter and no artifact, and a rule of its own reports it."""

_EVERYWHERE = frozenset({".gitkeep", ".keep", ".ds_store", "thumbs.db", "desktop.ini"})
_UNLESS_KNOWN = frozenset({".gitignore", ".gitattributes"})
_README = frozenset({"readme", "readme.md", "readme.txt", "readme.rst"})


def is_never_evidence(path: str) -> bool:
    """Whether a file is litter even where the contract takes any name."""
    *folders, name = path.casefold().split("/")
    return name in _EVERYWHERE or name.startswith("._") or ".git" in folders


def is_litter(path: str) -> bool:
    """Whether a file that the contract does not know is litter, or the README of a repository."""
    name = path.casefold().rpartition("/")[2]
    return is_never_evidence(path) or name in _UNLESS_KNOWN or path.casefold() in _README
