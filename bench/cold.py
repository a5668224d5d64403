"""Hash the same tree of 5 GiB from the disk: before each run the page cache forgets its files.

``posix_fadvise`` does that for one's own files, without root; what is above it (a hypervisor's cache) stays warm.
"""

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench._timing import Row, Run, main, measure, outside, row, tool
from bench.hashing import make, make_key, model_signing


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Make the tree and measure against the peers that are there."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        tree = root / "tree"
        make(tree, scale)
        files = f"find {shlex.quote(str(tree))} -type f -print0"
        runs = {
            "calaudit": outside([sys.executable, "-m", "bench.hashing", "--gather", str(tree)]),
            "cat": outside(["sh", "-c", f"{files} | xargs -0 cat >/dev/null"]),
        }
        limits = {"cat": 0.75}
        if openssl := tool("openssl"):
            make_key(root, openssl)
            if verify := model_signing(root, tree):
                runs["model_signing verify"] = outside(verify, cwd=root)
                limits["model_signing verify"] = 0.65
        cold = {who: from_disk(run, tree) for who, run in runs.items()}
        seconds = measure(cold, repeats=repeats, warm=False)
        work = f"hash {5 * scale:.1f} GiB, cold cache"
        return [row(seconds, work=work, peer=peer, limit=limit) for peer, limit in limits.items()]


def from_disk(run: Run, tree: Path) -> Run:
    """The same run, after the page cache has forgotten the files below a folder."""

    def cold() -> float:
        forget(tree)
        return run()

    return cold


def forget(tree: Path) -> None:
    """Write back and drop the cached pages of every file: only clean pages can be dropped."""
    for path in tree.rglob("*"):
        if path.is_file():
            fd = os.open(path, os.O_RDONLY)
            try:
                os.fsync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


if __name__ == "__main__":
    main(rows, __doc__ or "")
