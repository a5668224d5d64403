"""The interface of executors, what all of them set for a command, and which one runs a step."""

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from calaudit.errors import UsageError
from calaudit.execute.nouns import NO_NETWORK, Guarantees, Job, Outcome

__all__ = [
    "HOME",
    "KINDS",
    "SYSTEM_PATH",
    "Executor",
    "base_environment",
    "demand_no_network",
    "executor_for",
    "system_version",
]

KINDS = ("local", "bwrap", "oci")

SYSTEM_PATH = ("/usr/bin", "/bin")

HOME = "/home/calaudit"
"""The home of a command that is shut in."""

_OS_RELEASE = Path("/etc/os-release")


class Executor(Protocol):
    """Runs the command of one job, as much shut in as its guarantees say."""

    @property
    def kind(self) -> str:
        """The name in ``port.yaml``."""
        ...

    @property
    def guarantees(self) -> Guarantees:
        """What it enforces."""
        ...

    def probe(self) -> None:
        """Try it on nothing, once.

        Raises:
            UsageError: it cannot work on this machine; nothing falls back to less by itself.
        """
        ...

    def versions(self) -> Mapping[str, str]:
        """Versions of what it is made of."""
        ...

    def run(self, job: Job) -> Outcome:
        """Run a job to its end."""
        ...


def executor_for(kind: str, *, layouts: Sequence[Path] = ()) -> Executor:
    """The executor of a kind; ``layouts`` are OCI image layouts, for containers.

    Raises:
        UsageError: there is none of that name.
    """
    from calaudit.execute.bwrap import Bwrap  # noqa: PLC0415 - they import this module
    from calaudit.execute.local import Local  # noqa: PLC0415
    from calaudit.execute.oci import Oci  # noqa: PLC0415

    if kind == "local":
        return Local()
    if kind == "bwrap":
        return Bwrap()
    if kind == "oci":
        return Oci(layouts=layouts)
    raise UsageError(f"There is no executor {kind!r}; there are {', '.join(KINDS)}.")


def base_environment(job: Job, *, home: str, tmp: str, path: tuple[str, ...] = SYSTEM_PATH) -> dict[str, str]:
    """All variables of a command, without the secrets.

    ``CALAUDIT_INVOCATION`` is the id of the run, for reports that the command writes. Python's caches are redirected,
    so that those in a toolchain, which no digest covers, are not read.
    """
    programs = () if job.toolchain is None else tuple(str(folder) for folder in job.toolchain.programs)
    return {
        "PATH": ":".join((*programs, *path)),
        "HOME": home,
        "TMPDIR": tmp,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPYCACHEPREFIX": f"{home}/.cache/python",
        **job.env,
        "CALAUDIT_INVOCATION": job.invocation,
    }


def demand_no_network(job: Job, kind: str) -> None:
    """Refuse an endpoint that cannot be enforced.

    Raises:
        UsageError: the job asks for one.
    """
    if job.network != NO_NETWORK:
        raise UsageError(
            f"{kind} can only cut off the network altogether, not allow {job.network} alone. Say network: none in "
            "port.yaml, or --executor local."
        )


def system_version() -> str:
    """The operating system, as it names itself."""
    try:
        lines = _OS_RELEASE.read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.system()} {os.uname().release}"
    name = next((line.partition("=")[2].strip('"') for line in lines if line.startswith("PRETTY_NAME=")), "Linux")
    return f"{name}, Linux {os.uname().release}"
