"""Running one process tree: its streams drained, masked and kept, its time and memory watched, its end made sure of."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from calaudit.execute.keyring import fresh_session_keyring
from calaudit.execute.masking import Needles
from calaudit.execute.nouns import Job, Outcome
from calaudit.execute.parent import closed, noted, reaping
from calaudit.execute.procfs import children, descendants, high_water, levels, send
from calaudit.execute.streams import Stream

__all__ = ["GRACE", "Spawn", "Wrapper", "supervise"]

GRACE = 5.0
"""Seconds between asking a command to end and ending it."""

_LOOK = 0.05
_CHUNK = 1 << 16


class Wrapper:
    """What stands around a command, and is asked about it; the default is one that knows nothing."""

    def ended(self, returncode: int) -> tuple[int | None, int | None, str | None]:
        """Exit code, signal, and a sentence if the wrapper failed."""
        return (None, -returncode, None) if returncode < 0 else (returncode, None, None)

    def stop(self, number: int) -> None:
        """Pass a signal on where signals do not reach."""

    def apart(self) -> tuple[int, ...]:
        """Processes of the command that are not below what was started."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn:
    """What is started for a job.

    ``wrapper`` knows what the exit code does not tell, and reaches what no signal does. ``above`` counts its processes,
    between what is started and the command: they are not asked to end, since they would take the command down at once.
    ``keep`` are descriptors that stay open.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    keep: Sequence[int] = ()
    wrapper: Wrapper = field(default_factory=Wrapper)
    above: int = 0


def supervise(job: Job, spawn: Spawn, *, grace: float = GRACE) -> Outcome:
    """Run a job to its end, whatever that is; an interrupt ends the command and is told in the outcome."""
    return _Run(job, spawn, grace).run()


class _Run:
    def __init__(self, job: Job, spawn: Spawn, grace: float) -> None:
        self._job, self._spawn, self._grace = job, spawn, grace
        self._wrapper = spawn.wrapper
        self._needles = Needles(job.secrets)
        self._peak: int | None = None
        self._timed_out = self._interrupted = False
        self._interrupts: list[int] = []
        self._others = set(children(os.getpid()))

    def run(self) -> Outcome:
        started, clock = datetime.now(UTC), time.monotonic()
        streams = [Stream(path, self._needles, self._job.log_cap) for path in (self._job.stdout, self._job.stderr)]
        trouble = None
        returncode: int | None = None
        with reaping(), closed(), noted(self._interrupts):
            try:
                returncode = self._start_and_watch(streams)
            except OSError as error:
                trouble = f"{self._spawn.argv[0]} could not be started: {error.strerror}."
        stdout, stderr = (stream.close() for stream in streams)
        code: int | None = None
        number: int | None = None
        if returncode is not None:
            code, number, trouble = self._wrapper.ended(returncode)
        else:
            code = 127
        return Outcome(
            exit_code=code,
            signal=number,
            started=started,
            finished=datetime.now(UTC),
            duration_s=time.monotonic() - clock,
            stdout=stdout,
            stderr=stderr,
            peak_rss_bytes=self._peak,
            timed_out=self._timed_out,
            interrupted=self._interrupted or bool(self._interrupts),
            trouble=trouble,
        )

    def _start_and_watch(self, streams: Sequence[Stream]) -> int:
        fresh_session_keyring()
        process = subprocess.Popen(  # noqa: S603 - running what port.yaml names is what a step is; there is no shell
            list(self._spawn.argv),
            cwd=self._spawn.cwd,
            env=dict(self._spawn.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=tuple(self._spawn.keep),
            start_new_session=True,
        )
        with process, selectors.DefaultSelector() as selector:
            for stream, pipe in zip(streams, (process.stdout, process.stderr), strict=True):
                assert pipe is not None  # noqa: S101 - asked for above
                selector.register(pipe, selectors.EVENT_READ, stream)
            try:
                self._watch(process, selector)
            finally:
                self._bury(process)
                _drain(selector)
            return process.returncode

    def _watch(self, process: "subprocess.Popen[bytes]", selector: selectors.BaseSelector) -> None:
        """Until the command ended: by itself, by the clock, or by whoever started it."""
        limit = self._job.timeout_s
        deadline = None if limit is None else time.monotonic() + limit
        asked: float | None = None  # when the command was asked to end
        while process.poll() is None:
            self._look(process.pid)
            _read(selector, _LOOK)
            now = time.monotonic()
            if self._interrupts and not self._interrupted:
                self._interrupted, asked = True, now
                self._ask(process.pid)
            elif asked is None and deadline is not None and now >= deadline:
                self._timed_out, asked = True, now
                self._ask(process.pid)
            if asked is not None and now >= asked + self._grace:
                return
            if len(self._interrupts) > 1:
                return  # whoever interrupts twice does not want to wait

    def _look(self, pid: int) -> None:
        for one in (pid, *descendants(pid), *(below for top in self._wrapper.apart() for _, below in levels(top))):
            high = high_water(one)
            if high is not None:
                self._peak = max(self._peak or 0, high)

    def _ask(self, pid: int) -> None:
        self._wrapper.stop(signal.SIGTERM)
        for depth, one in levels(pid):
            if depth >= self._spawn.above:
                send(one, signal.SIGTERM)

    def _bury(self, process: "subprocess.Popen[bytes]") -> None:
        """End everything that is left, also what left the session of the command or outlived it."""
        if process.poll() is None:
            self._wrapper.stop(signal.SIGKILL)
            for _, one in list(levels(process.pid)):
                send(one, signal.SIGKILL)
            process.wait()
        while orphans := set(children(os.getpid())) - self._others:
            for one in orphans:
                for below in (one, *descendants(one)):
                    send(below, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(one, 0)


def _read(selector: selectors.BaseSelector, seconds: float) -> bool:
    """Read what is there, waiting for some; whether anything was."""
    if not selector.get_map():
        time.sleep(seconds)
        return False
    events = selector.select(seconds)
    for key, _ in events:
        data = os.read(key.fd, _CHUNK)
        if data:
            key.data.feed(data)
        else:
            selector.unregister(key.fileobj)
    return bool(events)


def _drain(selector: selectors.BaseSelector) -> None:
    """Read to the ends; everybody who could write is dead, so they come at once."""
    while selector.get_map() and _read(selector, GRACE):
        pass
