"""``bwrap``: a bubblewrap sandbox. No network, declared inputs only, fixed host name, user, home and build path.

The command sees its workspace, its toolchain and the system's ``/usr``, the last two and its inputs read-only; what
else the machine holds does not exist for it. Of ``/etc`` there is what the dynamic linker needs, and users and hosts
made up for it.
"""

import contextlib
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from shutil import which

import orjson

from calaudit.errors import UsageError
from calaudit.execute.bwrap_arguments import NO_USERNS, arguments, empty, made_up
from calaudit.execute.executor import demand_no_network, system_version
from calaudit.execute.nouns import Guarantees, Job, Outcome
from calaudit.execute.process import Spawn, Wrapper, supervise
from calaudit.execute.seccomp import program
from calaudit.execute.trace import STRACE, Watch, find_strace
from calaudit.trust.isolation import Isolation

__all__ = ["Bwrap"]

_PROBE_S = 30
_OR_LOCAL = "or say --executor local: then nothing is shut in, and provenance says so."


class Bwrap:
    """Runs a command in a sandbox of its own."""

    kind = "bwrap"
    guarantees = Guarantees(
        isolation=Isolation.SANDBOX, network=True, inputs=True, fixed=("build-path", "hostname", "user", "home", "tmp")
    )

    def __init__(self, program: str | None = None) -> None:
        """``program`` is bubblewrap; by default the one on the PATH."""
        self._program = program or which("bwrap") or ""
        self._strace: str | None = None
        self._filtered = self._single = False
        self._probed = False

    def probe(self) -> None:
        """Start an empty sandbox, and see what works with it: a filter of calls, no namespaces inside, strace around.

        Raises:
            UsageError: bubblewrap is missing, or may not make namespaces here.
        """
        if self._probed:
            return
        if not self._program:
            raise UsageError(f"bubblewrap (bwrap) is not installed. Install it, {_OR_LOCAL}")
        fault = self._try(("/usr/bin/true",))
        if fault is not None:
            raise UsageError(f"bubblewrap cannot make a sandbox on this machine ({fault}). Allow it, {_OR_LOCAL}")
        with _in_memory(program()) as calls:
            self._filtered = self._try(("/usr/bin/true",), "--seccomp", str(calls), keep=(calls,)) is None
        self._single = self._try(("/usr/bin/true",), NO_USERNS) is None
        strace = find_strace()
        if strace is not None and self._try(("/usr/bin/true",), around=(strace, *STRACE, "-o", "/dev/null")) is None:
            self._strace = strace
        self._probed = True

    def versions(self) -> Mapping[str, str]:
        """Bubblewrap and the system."""
        told = subprocess.run(  # noqa: S603 - the program that runs the steps
            [self._program, "--version"], check=False, capture_output=True, text=True, timeout=_PROBE_S
        )
        return {
            "bubblewrap": told.stdout.strip().rpartition(" ")[2],
            "system": system_version(),
            "machine": platform.machine(),
        }

    def run(self, job: Job) -> Outcome:
        """Run it; the sandbox ends with this process.

        Raises:
            UsageError: the job asks for what a sandbox cannot enforce, or no sandbox can be made.
        """
        demand_no_network(job, self.kind)
        self.probe()
        with contextlib.ExitStack() as stack:
            status, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            stack.callback(os.close, status)
            stack.callback(os.close, writer)
            files = [stack.enter_context(_in_memory(text)) for text in made_up(job)]
            calls = stack.enter_context(_in_memory(program())) if self._filtered else None
            options = arguments(job, files, calls=calls, single=self._single)
            # Not on the command line: everybody on the machine can read that, and there are secrets in it.
            listed = stack.enter_context(_in_memory(b"".join(os.fsencode(option) + b"\0" for option in options)))
            # Around the sandbox, which the command can neither see nor end; what it tells is out of reach too.
            watch = None if self._strace is None else stack.enter_context(Watch(job.private / "trace"))
            around = () if self._strace is None or watch is None else (self._strace, *STRACE, "-o", str(watch.path))
            sandbox = (self._program, "--json-status-fd", str(writer), "--args", str(listed))
            outcome = supervise(
                job,
                Spawn(
                    argv=(*around, *sandbox, "--", *job.argv),
                    env={},
                    cwd=job.private,
                    keep=(writer, listed, *files, *(() if calls is None else (calls,))),
                    wrapper=_Status(status),
                    above=2,
                ),
            )
            return replace(outcome, network_attempts=None if watch is None else watch.attempts())

    def _try(
        self, command: Sequence[str], *more: str, keep: Sequence[int] = (), around: Sequence[str] = ()
    ) -> str | None:
        """Why a command does not work in an empty sandbox, with more options; None if it does."""
        argv = [*around, self._program, *empty(*more), "--", *command]
        try:
            done = subprocess.run(  # noqa: S603 - the program that runs the steps
                argv,
                check=False,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=_PROBE_S,
                env={},
                pass_fds=tuple(keep),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        return None if done.returncode == 0 else (done.stderr.strip() or f"exit code {done.returncode}")


class _Status(Wrapper):
    """What bubblewrap writes into its status descriptor: how the command ended, if it came to that."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def ended(self, returncode: int) -> tuple[int | None, int | None, str | None]:
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self._descriptor, 1 << 16).splitlines():
                told = orjson.loads(line)
                if "exit-code" in told:
                    return told["exit-code"], None, None
        if returncode < 0:
            return None, -returncode, f"The sandbox was killed (signal {-returncode})."
        return returncode, None, "bubblewrap could not start the command; its message is in the log."


@contextlib.contextmanager
def _in_memory(data: bytes) -> Iterator[int]:
    """A descriptor from which some bytes can be read."""
    descriptor = os.memfd_create("calaudit", os.MFD_CLOEXEC)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
