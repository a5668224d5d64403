"""What can be another way in a run, with which values, and what cannot.

A factor that the step itself sets (in its ``env``) or that the executor cannot change stays as it is, and the report
says which and why.
"""

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from shutil import which

from calaudit.execute.nouns import Step
from calaudit.execute.rebuild.nouns import Factor
from calaudit.execute.rebuild.personality import can_fix_addresses, can_tell_old_release

__all__ = ["CLOCK_SHIFT", "OLD_RELEASE", "OTHER_ORDER", "Choice", "choices"]

CLOCK_SHIFT = 400 * 86400 + 11 * 3600
"""Seconds by which a varied clock is ahead: another year, month, day and hour."""

OTHER_ORDER = "reversed"
"""How folders list their names where their order is varied."""

OLD_RELEASE = "as 2.6"
"""What the kernel says of its release where that is varied."""

_VARIABLES = {
    Factor.LOCALE: ("LC_ALL", "LANG"),
    Factor.TIME_ZONE: ("TZ",),
    Factor.HASH_SEED: ("PYTHONHASHSEED",),
}
_SEEDS = 1_000_003


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The values of one factor: that of the baseline, and those of the varied builds."""

    baseline: str
    others: tuple[str, ...]

    def other(self, number: int) -> str:
        """The value in a varied build, counted from 1."""
        return self.others[(number - 1) % len(self.others)]


def choices(step: Step, kind: str, *, by_creation: bool) -> tuple[dict[Factor, Choice], dict[Factor, str]]:
    """What can vary with which values, and what cannot, with the reason as a sentence.

    ``by_creation`` says that the file system of the workspaces lists names in the order in which they were made.
    """
    found: dict[Factor, Choice] = {}
    fixed: dict[Factor, str] = {}
    inside = kind != "local"
    found[Factor.BUILD_PATH] = (
        Choice(baseline="/port", others=("/build/in-another-place/port", "/b/port"))
        if inside
        else Choice(baseline="workspace", others=("workspace-in-another-place", "elsewhere"))
    )
    _isolated(kind, found, fixed)
    found[Factor.LOCALE] = Choice(baseline="C.UTF-8", others=_locales())
    found[Factor.TIME_ZONE] = Choice(baseline="UTC", others=("<+1345>-13:45", "<-11>11"))
    found[Factor.HASH_SEED] = Choice(baseline="0", others=tuple(str(n * _SEEDS) for n in range(1, 100)))
    found[Factor.HOME] = Choice(baseline="home", others=("another-home", "h"))
    if by_creation:
        found[Factor.FILE_ORDER] = Choice(baseline="as listed", others=(OTHER_ORDER,))
    else:
        fixed[Factor.FILE_ORDER] = "The file system of the workspaces lists names in an order of its own."
    _of_the_process(kind, found, fixed)
    for factor, names in _VARIABLES.items():
        own = next((name for name in names if name in step.env or name in step.secrets), None)
        if own is not None:
            del found[factor]
            fixed[factor] = f"The step sets {own} itself, in port.yaml."
    return found, fixed


def _isolated(kind: str, found: dict[Factor, Choice], fixed: dict[Factor, str]) -> None:
    if kind == "local":
        fixed[Factor.HOSTNAME] = "The executor local runs on the host as it is called."
        fixed[Factor.USER] = "The executor local runs as whoever starts it."
        return
    found[Factor.HOSTNAME] = Choice(baseline="calaudit", others=("other-builder", "third-builder"))
    if kind == "oci" and os.geteuid() != 0:
        fixed[Factor.USER] = "Without root a container runs as whoever starts it."
    else:
        found[Factor.USER] = Choice(baseline="1000", others=("4242", "31337"))


def _of_the_process(kind: str, found: dict[Factor, Choice], fixed: dict[Factor, str]) -> None:
    """What a command takes over from the process that starts it; the processes of a container do not."""
    if kind == "oci":
        for factor in (Factor.UMASK, Factor.CPU_COUNT, Factor.CLOCK, Factor.ADDRESSES, Factor.KERNEL):
            fixed[factor] = "The container engine sets it, not whoever starts it."
        return
    found[Factor.UMASK] = Choice(baseline="0022", others=("0077", "0002"))
    processors = len(os.sched_getaffinity(0))
    if processors > 1:
        found[Factor.CPU_COUNT] = Choice(baseline=str(processors), others=("1",))
    else:
        fixed[Factor.CPU_COUNT] = "There is one processor."
    if which("faketime"):
        found[Factor.CLOCK] = Choice(baseline="0", others=(str(CLOCK_SHIFT),))
    else:
        fixed[Factor.CLOCK] = (
            "The date was the same in all builds: install faketime, or a date in a product goes unnoticed."
        )
    if can_fix_addresses():
        found[Factor.ADDRESSES] = Choice(baseline="fixed", others=("random",))
    else:
        fixed[Factor.ADDRESSES] = "This machine lets nobody switch address randomization off, so it is always on."
    if can_tell_old_release():
        found[Factor.KERNEL] = Choice(baseline=os.uname().release, others=(OLD_RELEASE,))
    else:
        fixed[Factor.KERNEL] = "This machine lets nobody be told another release of the kernel."


@cache
def _locales() -> tuple[str, ...]:
    """Other locales than the usual: one with a comma in its numbers, if the machine has any."""
    try:
        told = subprocess.run(["locale", "-a"], check=False, capture_output=True, text=True, timeout=30).stdout  # noqa: S607 - the system's
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        told = ""
    known = [name for name in told.split() if not name.upper().startswith(("C", "POSIX", "EN_"))]
    return (known[0], "C") if known else ("C",)
