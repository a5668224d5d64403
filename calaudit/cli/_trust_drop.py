"""``trust drop``: what waits, taken back."""

from collections.abc import Iterator
from pathlib import Path

from calaudit.cli._keys import confirm, say
from calaudit.cli._trust_common import tell_waiting
from calaudit.sign.dropping import parts, to_drop
from calaudit.sign.folder import PENDING, Folder
from calaudit.sign.opening import open_folder
from calaudit.sign.standing import Standing

__all__ = ["drop"]


def drop(directory: Path, part: str | None, *, yes: bool) -> int:
    """Take back ``part`` of what waits in a trust directory, or all of it."""
    folder = open_folder(directory)
    if not parts(folder):
        say(f"Nothing waits for signatures in {directory}.")
        return 0
    names = to_drop(folder, part)
    tell_waiting(folder)
    confirm(f"Drop {', '.join(names)}?", yes=yes)
    folder.withdraw(names)
    say(f"Dropped from {directory / PENDING}: {', '.join(names)}.")
    for line in _copies(folder, names):
        say(line)
    return 0


def _copies(folder: Folder, names: tuple[str, ...]) -> Iterator[str]:
    """What nobody can take back: signatures that stand in copies of the files."""
    standings: dict[str, Standing | None] = {"roles.json": folder.standing_of_registry()}
    if folder.next_root is not None:
        standings[f"{folder.next_root.signed.version}.root.json"] = folder.standing_of_root()
    for name in names:
        standing = standings.get(name)
        if standing is not None and standing.signed:
            keys = ", ".join(keyid[:8] for keyid in standing.signed)
            yield f"{name} was signed by {keys}: others can still complete a copy of it. Have copies deleted."
