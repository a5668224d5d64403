"""Running the program: from a sealed copy of its bytes, in a clean environment, within bounds."""

import contextlib
import fcntl
import hashlib
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calaudit.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use: seconds, printed bytes, bytes of address space."""

    seconds: float = 30.0
    output: int = 1 << 20
    memory: int = 4 << 30


DEFAULT = Limits()

_ENDINGS = (0, 1)
"""How cue ends when it is content and when it is not; Go ends a program that crashes with 2."""
_CHUNK = 1 << 20
_LARGEST = 512 << 20
_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Program:
    """Bytes of a program that nobody can change any more, and their digest."""

    descriptor: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one run ended.

    ``trouble`` is a sentence when the run was ended early or by a signal: then what it printed says nothing.
    """

    code: int
    stdout: bytes
    stderr: bytes
    trouble: str | None = None


@contextlib.contextmanager
def sealed(path: Path) -> Iterator[Program]:
    """Copy a program into sealed memory and digest exactly that copy, so that what is named is what runs.

    Raises:
        UsageError: the file cannot be read, or is no program (a script would start bytes that nobody digested).
    """
    with contextlib.ExitStack() as stack:
        try:
            source = stack.enter_context(path.open("rb", buffering=0))
            writer = os.memfd_create("cue", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError as error:
            raise UsageError(f"Cannot read the cue program {path}: {error.strerror}.") from error
        stack.callback(os.close, writer)
        digest, size = hashlib.sha256(), 0
        while chunk := source.read(_CHUNK):
            if (not size and not chunk.startswith(_ELF)) or (size := size + len(chunk)) > _LARGEST:
                raise UsageError(
                    f"{path} is not the cue program itself: found a script or another kind of file. Name it."
                )
            digest.update(chunk)
            _write(writer, chunk)
        if not size:
            raise UsageError(f"{path} is empty, so it is not the cue program.")
        fcntl.fcntl(writer, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        reader = os.open(f"/proc/self/fd/{writer}", os.O_RDONLY | os.O_CLOEXEC)
        stack.callback(os.close, reader)
        yield Program(reader, digest.hexdigest())


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def environment(home: Path) -> Mapping[str, str]:
    """Everything that the program sees of the environment: a home of its own, and no registry to fetch from."""
    private = str(home)
    return {
        "HOME": private,
        "TMPDIR": private,
        "XDG_CACHE_HOME": private,
        "XDG_CONFIG_HOME": private,
        "CUE_CACHE_DIR": private,
        "CUE_CONFIG_DIR": private,
        "CUE_REGISTRY": "none",
        "LC_ALL": "C",
        "NO_COLOR": "1",
    }


def run(
    executable: str,
    arguments: Sequence[str],
    *,
    folder: Path,
    keep: Sequence[int] = (),
    limits: Limits = DEFAULT,
) -> Outcome:
    """Run a program in ``folder`` and collect what it prints, within ``limits``."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the bytes are sealed, the arguments ours, and there is no shell
            ["cue", *arguments],  # noqa: S607 - the name that it is told; `executable` says what runs
            executable=executable,
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=tuple(keep),
            start_new_session=True,
        )
    except OSError as error:
        return Outcome(code=-1, stdout=b"", stderr=b"", trouble=f"cue could not be started: {error.strerror}.")
    with process:
        _limit(process.pid, limits.memory)
        try:
            stdout, stderr, trouble = _collect(process, limits)
        finally:
            if process.returncode is None:  # not reaped, so the number still is this process's own
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    if trouble is None and code not in _ENDINGS:
        first = stderr.decode("utf-8", "replace").split("\n", 1)[0]
        trouble = f"cue was ended by signal {-code}." if code < 0 else f"cue crashed ({code}): {first}"
    return Outcome(code=code, stdout=stdout, stderr=stderr, trouble=trouble)


def _limit(pid: int, memory: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # ended before it could need a limit
        resource.prlimit(pid, resource.RLIMIT_AS, (memory, memory))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _collect(process: subprocess.Popen[bytes], limits: Limits) -> tuple[bytes, bytes, str | None]:
    """Read both streams to their ends; the third item says why that was given up."""
    deadline = time.monotonic() + limits.seconds
    streams = {process.stdout: bytearray(), process.stderr: bytearray()}
    trouble = None
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and trouble is None:
            left = deadline - time.monotonic()
            for key, _ in selector.select(max(left, 0)):
                if data := os.read(key.fd, 1 << 16):
                    streams[process.stdout if key.fileobj is process.stdout else process.stderr] += data
                else:
                    selector.unregister(key.fileobj)
            if sum(map(len, streams.values())) > limits.output:
                trouble = f"cue printed more than {limits.output} bytes and was ended."
            elif left <= 0 and selector.get_map():
                trouble = f"cue ran longer than {limits.seconds:g} s and was ended."
    if trouble is None:
        try:
            process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            trouble = f"cue ran longer than {limits.seconds:g} s and was ended."
    return bytes(streams[process.stdout]), bytes(streams[process.stderr]), trouble
