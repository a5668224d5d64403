"""What bubblewrap is asked: what is shut off in a sandbox, and what is there."""

import os
from collections.abc import Iterator, Sequence

from calaudit.execute.executor import HOME, base_environment
from calaudit.execute.nouns import Job

__all__ = ["NO_USERNS", "arguments", "empty", "made_up"]

NO_USERNS = "--disable-userns"
"""No namespaces inside the sandbox: in one of its own a command could mount, and take mounts away (bubblewrap 0.8)."""

_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_MADE_UP = ("/etc/passwd", "/etc/group", "/etc/hosts")
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ALONE = (
    "--unshare-all",
    "--unshare-user",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--clearenv",
)


def empty(*more: str) -> Iterator[str]:
    """A sandbox with the system in it and nothing else, and with more options."""
    yield from (*_ALONE, *more, *_system(), "--proc", "/proc", "--dev", "/dev")


def arguments(job: Job, files: Sequence[int], *, calls: int | None, single: bool) -> Iterator[str]:
    """The sandbox of a job.

    ``files`` hold the users, groups and hosts that are made up for it (:func:`made_up`), ``calls`` the filter of system
    calls; both are open descriptors. ``single`` says that bubblewrap can forbid namespaces inside.
    """
    yield from _ALONE
    yield from () if calls is None else ("--seccomp", str(calls))
    yield from (NO_USERNS,) if single else ()
    yield from ("--uid", str(job.uid), "--gid", str(job.uid), "--hostname", job.hostname)
    yield from _system()
    for descriptor, path in zip(files, _MADE_UP, strict=True):
        yield from ("--ro-bind-data", str(descriptor), path)
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--bind", str(job.private / "tmp"), "/tmp", "--bind", str(job.private / "home"), HOME)  # noqa: S108 - inside
    for folder in () if job.toolchain is None else job.toolchain.folders:
        yield from ("--ro-bind", str(folder), str(folder))
    yield from ("--bind", str(job.workspace), job.inside)
    for path in job.held:
        yield from ("--bind", f"{job.workspace}/{path}", f"{job.inside}/{path}")
    for path in job.sealed:
        yield from ("--ro-bind", f"{job.workspace}/{path}", f"{job.inside}/{path}")
    yield from ("--remount-ro", "/", "--chdir", job.inside)
    for name, value in {**base_environment(job, home=HOME, tmp="/tmp"), **job.secrets}.items():  # noqa: S108 - inside
        yield from ("--setenv", name, value)


def made_up(job: Job) -> tuple[bytes, ...]:
    """The users, groups and hosts of the sandbox, in the order of its files: nothing of the machine's."""
    return (
        f"calaudit:x:{job.uid}:{job.uid}:calaudit:{HOME}:/bin/sh\n".encode(),
        f"calaudit:x:{job.uid}:\n".encode(),
        f"127.0.0.1 localhost {job.hostname}\n::1 localhost\n".encode(),
    )


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for path in _MERGED:
        if os.path.islink(path):  # noqa: PTH114 - text as it is
            yield from ("--symlink", os.readlink(path), path)  # noqa: PTH115 - the same
        else:
            yield from ("--ro-bind-try", path, path)
    for path in _ETC:
        yield from ("--ro-bind-try", path, path)
