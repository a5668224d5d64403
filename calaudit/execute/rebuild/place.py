"""Where the workspaces of a rebuild lie: if possible on a file system that lists names in the order they were made.

Most file systems list names by a hash, in the same order whatever is done; one in memory does not.
"""

import os
import stat
import uuid
from collections.abc import Iterable
from pathlib import Path

from calaudit.execute.rebuild.vary import lists_by_creation
from calaudit.execute.workspace import workspace

__all__ = ["SHARED_MEMORY", "choose_place"]

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of one's own is made in it
_TIMES = 4
_ROOM = 256 << 20


def choose_place(runs: Path, sizes: Iterable[int], memory: Path = SHARED_MEMORY) -> tuple[Path, bool]:
    """The folder for workspaces, and whether it lists names in the order of creation.

    ``sizes`` are those of the files that a build reads and writes, in bytes, as far as they are known.
    """
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    if _by_creation(runs):
        return runs, True
    own = memory / f"calaudit-rebuild-{os.geteuid()}"
    try:
        about = os.statvfs(memory)
        roomy = _TIMES * sum(sizes) + _ROOM < min(about.f_bavail * about.f_frsize, _free_memory() // 2)
        if not roomy or about.f_flag & os.ST_NOEXEC:
            return runs, False
        own.mkdir(mode=0o700, exist_ok=True)
        found = own.lstat()
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
        if private and _by_creation(own):
            return own, True
    except OSError:
        return runs, False
    return runs, False


def _by_creation(runs: Path) -> bool:
    # In a workspace, since whatever else lies there is swept away by other runs.
    with workspace(runs, f"{uuid.uuid4()}.probe") as space:
        return lists_by_creation(space.private)


def _free_memory() -> int:
    """Bytes that the machine can give without swapping."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)
