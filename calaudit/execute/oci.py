"""``oci``: a container by podman or docker, from an image that is there already, named by its digest.

Nothing is fetched (see :mod:`calaudit.execute.images`). A calaudit that is killed with SIGKILL leaves its container
running, in a workspace that no port ever sees.
"""

import contextlib
import os
import platform
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import which

from calaudit.errors import UsageError
from calaudit.execute.executor import demand_no_network
from calaudit.execute.images import find_image
from calaudit.execute.nouns import Guarantees, Job, Outcome
from calaudit.execute.oci_arguments import arguments, container_name, pid_file
from calaudit.execute.process import Spawn, Wrapper, supervise
from calaudit.trust.isolation import Isolation

__all__ = ["ENGINE_VARIABLE", "Oci"]

ENGINE_VARIABLE = "CALAUDIT_OCI"
"""The environment variable that names the podman or docker to use; by default the first of both on the PATH."""

_PROBE_S = 60
_NOT_STARTED = frozenset({125, 126, 127})
_OWN = (
    "HOME",
    "PATH",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "DOCKER_HOST",
)


class Oci:
    """Runs a command in a container of its own."""

    kind = "oci"
    guarantees = Guarantees(
        isolation=Isolation.CONTAINER,
        network=True,
        inputs=True,
        fixed=("build-path", "hostname", "home", "tmp", "system"),
    )

    def __init__(self, engine: str | None = None, *, layouts: Sequence[Path] = ()) -> None:
        """``engine`` is podman or docker; ``layouts`` are OCI image layouts that may hold the image."""
        self._layouts = layouts
        self._engine = engine or os.environ.get(ENGINE_VARIABLE) or which("podman") or which("docker") or ""
        self._probed = False

    def probe(self) -> None:
        """Ask the engine for its version.

        Raises:
            UsageError: there is none, or it does not work.
        """
        if self._probed:
            return
        if not self._engine:
            raise UsageError(f"Neither podman nor docker is installed. Install one, or name it in {ENGINE_VARIABLE}.")
        code, said = self._ask("info")
        if code:
            last = said.strip().splitlines()[-1:] or ["it says nothing"]
            raise UsageError(
                f"{self._engine} does not work on this machine. Repair it, or name another one in {ENGINE_VARIABLE}. "
                f"It says: {last[0]}"
            )
        self._probed = True

    def versions(self) -> Mapping[str, str]:
        """The engine, and the machine."""
        said = self._ask("--version")[1].strip()
        return {Path(self._engine).name: said.rpartition(" ")[2], "machine": platform.machine()}

    def run(self, job: Job) -> Outcome:
        """Run it.

        Raises:
            UsageError: the image is not there, or the engine does not work.
        """
        demand_no_network(job, self.kind)
        if job.image is None:
            raise UsageError("A container needs an image by digest: executor.image in port.yaml.")
        self.probe()
        image = find_image(self._ask, job.image, self._layouts, podman=self._podman)
        if os.geteuid() == 0:
            _give_away(job)
        argv = (self._engine, *arguments(job, image, podman=self._podman, root=os.geteuid() == 0))
        env = {**_environment(), **job.secrets}
        container = _Container(self._engine, job, podman=self._podman)
        # The client is asked nothing, however many processes it is: the container is, by its name.
        return supervise(job, Spawn(argv=argv, env=env, cwd=job.private, wrapper=container, above=1 << 30))

    @property
    def _podman(self) -> bool:
        return "podman" in Path(self._engine).name

    def _ask(self, *words: str) -> tuple[int, str]:
        return _call(self._engine, *words)


class _Container(Wrapper):
    """Signals reach a container by its name only; the client's own death would leave it running."""

    def __init__(self, engine: str, job: Job, *, podman: bool) -> None:
        self._engine, self._name = engine, container_name(job)
        self._pid_file = pid_file(job) if podman else None
        self._process: int | None = None

    def apart(self) -> tuple[int, ...]:
        if self._process is None:
            self._process = _written(self._pid_file) if self._pid_file is not None else self._asked()
        return () if self._process is None else (self._process,)

    def _asked(self) -> int | None:
        """The first process of the container, if docker has it on this machine."""
        with contextlib.suppress(UsageError, OSError, ValueError):
            said = _call(self._engine, "inspect", "--format", "{{.Id}} {{.State.Pid}}", self._name)[1]
            container, _, pid = said.strip().partition(" ")
            if container and container in Path(f"/proc/{int(pid)}/cgroup").read_text("utf-8"):
                return int(pid)
        return None

    def stop(self, number: int) -> None:
        with contextlib.suppress(UsageError):
            _call(self._engine, "kill", f"--signal={int(number)}", self._name)
            if number == signal.SIGKILL:  # the client that would remove it may be dead, or is about to be
                _call(self._engine, "rm", "--force", self._name)

    def ended(self, returncode: int) -> tuple[int | None, int | None, str | None]:
        if returncode < 0:
            self.stop(signal.SIGKILL)
            return None, -returncode, f"The container's client was killed (signal {-returncode})."
        trouble = "The container could not start the command; its message is in the log."
        return returncode, None, trouble if returncode in _NOT_STARTED else None


def _written(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text("ascii"))
    return None


def _environment() -> dict[str, str]:
    """What the engine's client needs of the caller's environment."""
    return {name: os.environ[name] for name in _OWN if name in os.environ}


def _give_away(job: Job) -> None:
    """Let the container's user write its workspace."""
    for root in (job.workspace, job.private):
        for place in _everything(root):
            os.chown(place, job.uid, job.uid, follow_symlinks=False)


def _everything(root: Path) -> Iterator[Path]:
    yield root
    yield from root.rglob("*")


def _call(engine: str, *words: str) -> tuple[int, str]:
    try:
        done = subprocess.run(  # noqa: S603 - the engine that the caller chose
            [engine, *words],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_PROBE_S,
            env=_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            f"{engine} does not answer. Repair it, or name another one in {ENGINE_VARIABLE}. ({error})"
        ) from error
    return done.returncode, done.stdout
