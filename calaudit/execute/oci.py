"""``oci``: a container by podman or docker, from an image that is there already, named by its digest.

Nothing is fetched. An image that the engine does not have yet is taken from an OCI image layout on this machine
(``--oci-layout DIR``), if its manifest there has the digest; docker reads none, so it needs ``docker load`` before.
A calaudit that is killed with SIGKILL leaves its container running, in a workspace that no port ever sees.
"""

import contextlib
import hashlib
import os
import platform
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import which

from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.executor import SYSTEM_PATH, base_environment, demand_no_network
from calaudit.execute.nouns import Guarantees, Job, Outcome
from calaudit.execute.process import Spawn, Told, supervise

__all__ = ["ENGINE_VARIABLE", "Oci", "arguments"]

ENGINE_VARIABLE = "CALAUDIT_OCI"
"""The environment variable that names the podman or docker to use; by default the first of both on the PATH."""

HOME = "/home/calaudit"
_PATH = ("/usr/local/bin", *SYSTEM_PATH)
_PIDS = 4096
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
        isolation="container", network=True, inputs=True, fixed=("build-path", "hostname", "home", "tmp", "system")
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
            raise UsageError(f"{self._engine} does not work on this machine: {last[0]}")
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
        self._demand_image(job.image)
        if os.geteuid() == 0:
            _give_away(job)
        argv = (self._engine, *arguments(job, podman=self._podman, root=os.geteuid() == 0))
        env = {**_environment(), **job.secrets}
        return supervise(
            job, Spawn(argv=argv, env=env, cwd=job.private, wrappers=1 << 30, told=_Container(self._engine, job))
        )

    def _demand_image(self, image: str) -> None:
        if not self._ask("image", "inspect", image)[0]:
            return
        found = next((source for folder in self._layouts if (source := _in_layout(folder, image))), None)
        if found is None or not self._podman:
            raise UsageError(
                f"The image {image} is not on this machine, and nothing is pulled. Name the OCI layout that holds it "
                "(--oci-layout DIR, podman only), or load it first."
            )
        code, said = self._ask("pull", "--quiet", f"oci:{found}")
        lines = said.split()
        if not code:
            # A digest is looked up among the images of its name only.
            code, said = self._ask("tag", lines[-1], f"{image.partition('@')[0]}:calaudit")
        if code or self._ask("image", "inspect", image)[0]:
            raise UsageError(f"The image {image} could not be taken from {found}: {said.strip()}")

    @property
    def _podman(self) -> bool:
        return "podman" in Path(self._engine).name

    def _ask(self, *words: str) -> tuple[int, str]:
        return _call(self._engine, *words)


class _Container(Told):
    """Signals reach a container by its name only; the client's own death would leave it running."""

    def __init__(self, engine: str, job: Job) -> None:
        self._engine, self._name = engine, _name(job)

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


def arguments(job: Job, *, podman: bool, root: bool) -> list[str]:
    """What the engine is asked: a container without network, capabilities, host names or a writable root.

    Values of secrets stand in the client's environment, never in its arguments.
    """
    user = job.uid if root else os.geteuid()
    group = job.uid if root else os.getegid()
    words = ["run", "--rm", "--name", _name(job), "--pull=never", "--network=none", "--read-only"]
    words += ["--cap-drop=ALL", "--security-opt=no-new-privileges", f"--pids-limit={_PIDS}"]
    words += [f"--hostname={job.hostname}", f"--user={user}:{group}", f"--workdir={job.inside}"]
    if podman:
        words += ["--read-only-tmpfs=false", "--unsetenv-all", "--http-proxy=false", "--no-hosts"]
        words += [] if root else ["--userns=keep-id"]
    words += ["--volume", f"{job.workspace}:{job.inside}:rw", "--volume", f"{job.private / 'tmp'}:/tmp:rw"]
    words += ["--volume", f"{job.private / 'home'}:{HOME}:rw"]
    for folder in () if job.toolchain is None else job.toolchain.folders:
        words += ["--volume", f"{folder}:{folder}:ro"]
    for name, value in base_environment(job, home=HOME, tmp="/tmp", path=_PATH).items():  # noqa: S108 - inside
        words += ["--env", f"{name}={value}"]
    for name in job.secrets:
        words += ["--env", name]
    first, *rest = job.argv
    return [*words, "--entrypoint", first, str(job.image), *rest]


def _in_layout(folder: Path, image: str) -> str | None:
    """How podman names the image of that digest in a layout; None where the layout has none.

    Raises:
        UsageError: it is no layout, or its manifest is not what its digest says.
    """
    digest = image.partition("@")[2]
    try:
        index = parse_json((folder / "index.json").read_bytes())
        listed = index["manifests"] if isinstance(index, dict) else None
        found = (
            [m for m in listed if isinstance(m, dict) and m.get("digest") == digest] if isinstance(listed, list) else []
        )
        if not found:
            return None
        data = (folder / "blobs" / "sha256" / digest.removeprefix("sha256:")).read_bytes()
    except (OSError, Malformed, KeyError) as error:
        raise UsageError(f"{folder} is no OCI image layout: {error}") from error
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
        raise UsageError(f"{folder}: the manifest {digest} is not what its digest says.")
    notes = found[0].get("annotations")
    name = notes.get("org.opencontainers.image.ref.name") if isinstance(notes, dict) else None
    return f"{folder}:{name}" if name else str(folder)


def _name(job: Job) -> str:
    return f"calaudit-{job.invocation}"


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
        raise UsageError(f"{engine} does not answer: {error}") from error
    return done.returncode, done.stdout
