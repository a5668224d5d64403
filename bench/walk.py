"""Walk 100 000 files: the evidence walk (no-follow, by descriptors, names checked) against os.scandir with stat.

The bar of 0.8 is below what one process can do: a walk by descriptors that checks and keeps nothing takes about 0.77 of
the peer (the row's "floor"; 0.69 to 0.83 between runs), keeping the peer's own four facts makes it about 0.9, and ours
keeps three more (device, ``ctime``, the name on disk), looks at links and surveys names. Columns built by ``zip`` and
``attrgetter``, ``listdir``, ``lstat`` after ``fchdir``, a kept ``stat_result``, two threads (they take turns at the
GIL), a forked twin (its half must be carried over) and a walk in Rust (PyPI scandir-rs, before its entries are turned
into Python's) were measured and were no faster. What would be faster is to look at a file's status only when it is
opened; then a file that changes between the walk and its reading goes unseen, and a verdict may rest on a mixture of
two trees of which neither passes. The walk's status is what ``changed-while-read`` compares with, so it stays.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench._timing import Row, inside, main, measure, row
from calaudit.evidence.walk import walk


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Make the tree and measure."""
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), max(1, round(1000 * scale)))
        seconds = measure(
            {
                "calaudit": inside(lambda: ours(name)),
                "os.scandir + stat": inside(lambda: scandir(name)),
                "floor": inside(lambda: floor(name)),
            },
            repeats=repeats * 3,
        )
    work, peer = f"walk {100_000 * scale:.0f} files", "os.scandir + stat"
    least = row(seconds, work=work, ours="floor", peer=peer, limit=0.8)
    return [row(seconds, work=work, peer=peer, limit=0.8, note=f"floor {least.ratio:.2f}")]


def make(root: Path, folders: int) -> None:
    """A hundred empty files in each folder."""
    for number in range(folders):
        folder = root / f"a{number // 100}" / f"b{number % 100:02}"
        folder.mkdir(parents=True)
        for file in range(100):
            (folder / f"f{file:03}.json").touch()


def ours(root: str) -> int:
    """The evidence walk."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return len(walk(fd).files)
    finally:
        os.close(fd)


def scandir(root: str) -> int:
    """The usual walk, by path."""
    pending, found = [root], []
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    status = entry.stat(follow_symlinks=False)
                    found.append((entry.path, status.st_size, status.st_mtime_ns, status.st_ino))
    return len(found)


def floor(root: str) -> int:
    """The least that a walk by descriptors does: nothing is checked, nothing is kept."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

    def count(fd: int) -> int:
        try:
            with os.scandir(fd) as listing:
                entries = list(listing)
            files = 0
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    files += count(os.open(entry.name, flags, dir_fd=fd))
                else:
                    entry.stat(follow_symlinks=False)
                    files += 1
            return files
        finally:
            os.close(fd)

    return count(os.open(root, flags))


if __name__ == "__main__":
    main(rows, __doc__ or "")
