"""Peak memory of gathering a tree of 5 GiB and a JSONL file of 1 000 000 records in one run.

The sum over the process and its workers, sampled: of resident pages, those that processes share count once (PSS; the
windows that JSONL workers read are shared). The files are sparse and the records repeat: neither changes what is held.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench._timing import Row, main
from bench.jsonl import make as make_records

LIMIT = 250
"""Megabytes (of 10**6 bytes)."""

INTERVAL = 0.02
"""Seconds between two samples."""


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Make the files and watch one run; a peak does not need repeats."""
    del repeats
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        records = round(1_000_000 * scale)
        make(root, scale, records)
        peak, highest = watch([sys.executable, "-m", "bench.jsonl", "--check", str(root / "port")])
    return [
        Row(
            work=f"memory, {5 * scale:.1f} GiB + {records} records",
            peer=f"{LIMIT} MB",
            ours=peak / 1e6,
            theirs=LIMIT,
            ratio=peak / 1e6 / LIMIT,
            limit=1.0,
            unit="MB",
            note=f"largest process, shared pages too: {highest / 1e6:.0f} MB",
        )
    ]


def make(root: Path, scale: float, records: int) -> None:
    """A port: sparse files as in the hashing benchmark, and records, a thousand of them again and again."""
    make_records(root, 1000)
    port = root / "port"
    lines = (port / "data.jsonl").read_bytes().splitlines(keepends=True)
    with (port / "data.jsonl").open("wb") as file:
        while records > 0:
            file.writelines(lines[:records])
            records -= len(lines)
    sizes = {f"weights/part-{number}.bin": round(1536 * scale * (1 << 20)) for number in range(3)}
    sizes |= {f"d{number // 100:02}/f{number}.bin": 100 << 10 for number in range(round(5000 * scale))}
    for path, size in sizes.items():
        (port / path).parent.mkdir(parents=True, exist_ok=True)
        with (port / path).open("wb") as file:
            file.truncate(size)


def watch(command: Sequence[str]) -> tuple[int, int]:
    """Bytes at the peak: the sum of PSS over a process and its children, and the largest RSS of one.

    Raises:
        RuntimeError: the process fails.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    peak = highest = 0
    while process.poll() is None:
        pids = [process.pid, *children(process.pid)]
        peak = max(peak, sum(kibibytes(f"/proc/{pid}/smaps_rollup", "Pss:") for pid in pids) * 1024)
        highest = max(highest, *(kibibytes(f"/proc/{pid}/status", "VmHWM:") * 1024 for pid in pids))
        time.sleep(INTERVAL)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return peak, highest


def children(parent: int) -> list[int]:
    """The processes that one has forked (not every kernel lists them below ``/proc/PID/task``)."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, _, rest = status.read_text().partition(" ")
        except OSError:
            continue
        if int(rest.rpartition(")")[2].split()[1]) == parent:
            found.append(int(pid))
    return found


def kibibytes(file: str, key: str) -> int:
    """A number of a file of ``/proc``; 0 once the process is gone."""
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)


if __name__ == "__main__":
    main(rows, __doc__ or "")
