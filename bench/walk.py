"""Walk 100 000 files: the evidence walk (no-follow, by descriptors, names checked) against os.scandir with stat."""

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
            {"calaudit": inside(lambda: ours(name)), "os.scandir + stat": inside(lambda: scandir(name))},
            repeats=repeats * 3,
        )
    return [row(seconds, work=f"walk {100_000 * scale:.0f} files", peer="os.scandir + stat", limit=0.8)]


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


if __name__ == "__main__":
    main(rows, __doc__ or "")
