"""Interleaved timing: every contender runs once a round, in turns, so that noise hits all of them; medians and ratios.

A ratio is the median over the rounds of ours divided by the peer's, taken within one round.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OURS = "calaudit"
"""How our own run is called in a measurement."""

Run = Callable[[], float]
"""Does the work once and says how many seconds it took."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table. ``ratio`` is ours / peer in ``unit``; ``limit`` the largest that meets the bar."""

    work: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    limit: float
    unit: str = "s"
    note: str = ""

    def __str__(self) -> str:
        verdict = "met" if self.ratio <= self.limit else "MISSED"
        sizes = f"{self.ours:9.3f} {self.unit:2} {self.theirs:9.3f} {self.unit:2}"
        return f"{self.work:38} {self.peer:32} {sizes}  {self.ratio:7.3f} ≤ {self.limit:<7.3f} {verdict:6} {self.note}"


def inside(work: Callable[[], object]) -> Run:
    """Time a function in this process."""

    def run() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return run


def outside(command: Sequence[str], *, codes: Sequence[int] = (0,), cwd: Path | None = None) -> Run:
    """Time a whole process.

    Raises:
        RuntimeError: it ends with an exit code that is not in ``codes``.
    """

    def run() -> float:
        start = time.perf_counter()
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        took = time.perf_counter() - start
        if done.returncode not in codes:
            tail = (done.stderr or done.stdout).decode(errors="replace")[-500:]
            raise RuntimeError(f"{' '.join(map(str, command))[:200]} ended with {done.returncode}: {tail}")
        return took

    return run


def measure(runs: Mapping[str, Run], *, repeats: int, warm: bool = True) -> dict[str, list[float]]:
    """Seconds of every run in every round; the order turns around each round."""
    if warm:
        for run in runs.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(repeats):
        for name in list(runs) if number % 2 == 0 else list(runs)[::-1]:
            seconds[name].append(runs[name]())
    return seconds


def row(  # noqa: PLR0913 - a row has that many cells
    seconds: Mapping[str, list[float]], *, work: str, peer: str, limit: float, ours: str = OURS, note: str = ""
) -> Row:
    """Compare two contenders of one measurement."""
    return Row(
        work=work,
        peer=peer,
        ours=statistics.median(seconds[ours]),
        theirs=statistics.median(seconds[peer]),
        ratio=statistics.median(a / b for a, b in zip(seconds[ours], seconds[peer], strict=True)),
        limit=limit,
        note=note,
    )


def tool(name: str) -> str | None:
    """A program beside this interpreter, or on PATH."""
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return str(beside)
    found = (Path(folder) / name for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)
    return next((str(path) for path in found if os.access(path, os.X_OK)), None)


def main(rows: Callable[[float, int], Sequence[Row]], what: str) -> None:
    """The command line of one benchmark."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the data; 1 is the size of the bar (default)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default 3)")
    options = parser.parse_args()
    for line in rows(options.scale, options.repeats):
        print(line)
