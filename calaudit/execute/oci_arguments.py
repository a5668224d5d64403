"""The command line of a container: what is shut off, and what is there."""

import csv
import io
import os
from pathlib import Path

from calaudit.execute.executor import HOME, SYSTEM_PATH, base_environment
from calaudit.execute.nouns import Job

__all__ = ["arguments", "container_name", "pid_file"]

_PATH = ("/usr/local/bin", *SYSTEM_PATH)
_PIDS = 4096


def arguments(job: Job, image: str, *, podman: bool, root: bool) -> list[str]:
    """What the engine is asked: a container without network, capabilities, host names or a writable root.

    ``image`` is how the engine knows the image. Values of secrets stand in the client's environment, never here.
    """
    user = job.uid if root else os.geteuid()
    group = job.uid if root else os.getegid()
    words = ["run", "--rm", "--name", container_name(job), "--pull=never", "--network=none", "--read-only"]
    words += ["--cap-drop=ALL", "--security-opt=no-new-privileges", f"--pids-limit={_PIDS}"]
    words += [f"--hostname={job.hostname}", f"--user={user}:{group}", f"--workdir={job.inside}"]
    if podman:
        words += ["--read-only-tmpfs=false", "--unsetenv-all", "--http-proxy=false", "--no-hosts"]
        words += ["--pidfile", str(pid_file(job))]
        words += [] if root else ["--userns=keep-id"]
    for source, target in ((job.workspace, job.inside), (job.private / "tmp", "/tmp"), (job.private / "home", HOME)):  # noqa: S108 - inside
        words += ["--mount", _mount(source, target, writable=True)]
    for path in job.held:
        words += ["--mount", _mount(job.workspace / path, f"{job.inside}/{path}", writable=True)]
    for path in job.sealed:
        words += ["--mount", _mount(job.workspace / path, f"{job.inside}/{path}", writable=False)]
    for folder in () if job.toolchain is None else job.toolchain.folders:
        words += ["--mount", _mount(folder, str(folder), writable=False)]
    for name, value in base_environment(job, home=HOME, tmp="/tmp", path=_PATH).items():  # noqa: S108 - inside
        words += ["--env", f"{name}={value}"]
    for name in job.secrets:
        words += ["--env", name]
    first, *rest = job.argv
    return [*words, "--entrypoint", first, image, *rest]


def _mount(source: Path, target: str, *, writable: bool) -> str:
    """A bind mount as podman and docker read it: a row of CSV, so that a name may hold anything."""
    row = io.StringIO()
    members = ["type=bind", f"source={source}", f"target={target}", *([] if writable else ["readonly"])]
    csv.writer(row, lineterminator="").writerow(members)
    return row.getvalue()


def container_name(job: Job) -> str:
    """What the container is called: by its name it is reached while it runs."""
    return f"calaudit-{job.invocation}"


def pid_file(job: Job) -> Path:
    """Where podman notes the first process of the container; the container does not see it."""
    return job.private / "container.pid"
