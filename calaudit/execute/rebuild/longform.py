"""diffoscope's long form of a difference, where it is installed; our own comparison is what counts.

It may take minutes for one byte in a big file, so big files are left out and it is ended after a while. What it writes
stays outside the port.
"""

import subprocess
from pathlib import Path
from shutil import which

from calaudit.execute.rebuild.nouns import Rebuild

__all__ = ["LARGEST", "long_forms"]

LARGEST = 20 << 20
"""Bytes of a product that diffoscope is asked about at most."""

_SECONDS = 120
_FILES = 10


def long_forms(rebuild: Rebuild, folder: Path, program: str | None = None) -> list[Path]:
    """Ask diffoscope about each product that differs; the files that it wrote. None where it is not installed."""
    program = program or which("diffoscope")
    if program is None:
        return []
    builds = {build.number: build for build in rebuild.builds}
    written: list[Path] = []
    for path in dict.fromkeys(difference.path for difference in rebuild.differences):
        first = next(difference for difference in rebuild.differences if difference.path == path)
        sides = [builds[number].folder / path for number in first.builds]
        if len(written) == _FILES:
            break
        if not all(side.is_file() and side.stat().st_size <= LARGEST for side in sides):
            continue
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = folder / f"{path.replace('/', '%')[-200:]}.diffoscope.txt"
        try:
            subprocess.run(  # noqa: S603 - the program of that name; it is told where to write
                [program, "--text", str(target), "--no-progress", *map(str, sides)],
                check=False,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue  # it only explains what is listed anyway
        if target.is_file():
            written.append(target)
    return written
