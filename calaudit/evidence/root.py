"""Whether a directory is a port at all, and which one may have been meant."""

import os
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from calaudit.errors import UsageError

MANIFEST = "port.yaml"
_ALIKE = frozenset({"port.yaml", "port.yml", "port.json"})
_LOOKED_AT = 50


def demand_port(root: Path, folders: Collection[str]) -> None:
    """Refuse a directory that holds neither a manifest nor a gate's folder; one of them is enough to be audited.

    Raises:
        UsageError: it holds neither; the message names ports nearby.
    """
    try:
        names = {path.name.casefold() for path in root.iterdir()}
    except OSError as error:
        raise UsageError(f"{root} is not a directory that can be opened ({error.strerror}).") from error
    if names & _ALIKE or names & {folder.casefold() for folder in folders}:
        return
    near = list(_near(root))
    hint = f"Did you mean {' or '.join(near)}?" if near else "`calaudit init` begins a port."
    raise UsageError(f"{root} is not a port: there is no {MANIFEST} and no gate's folder in it. {hint}")


def _near(root: Path) -> Iterator[str]:
    """Ports up to three levels below, at most three; else the nearest one above."""
    found = [str(path) for path in _below(root, 3) if (path / MANIFEST).is_file()]
    if found:
        yield from sorted(found)[:3]
        return
    for above in root.resolve().parents:
        if (above / MANIFEST).is_file():
            yield os.path.relpath(above)
            return


def _below(folder: Path, levels: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            inside = [entry.name for entry in islice(entries, _LOOKED_AT) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return  # a hint only: what cannot be looked into gives none
    for name in inside:
        if not name.startswith("."):
            yield folder / name
            if levels > 1:
                yield from _below(folder / name, levels - 1)
