"""What is started is watched, masked, and ended, whatever it does."""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from calaudit.execute.local import Local
from calaudit.execute.process import Spawn, supervise
from tests.execute.small import job, shell


def alive(name: str) -> list[int]:
    """Processes with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if name.encode() in words and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


def test_streams_and_codes(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "echo out; echo err >&2; exit 3")
    assert (outcome.exit_code, outcome.signal, outcome.good) == (3, None, False)
    assert outcome.stdout.path.read_text() == outcome.stdout.tail == "out\n"
    assert outcome.stderr.path.read_text() == "err\n"
    assert outcome.stdout.written == 4
    assert not outcome.stdout.truncated
    assert outcome.started <= outcome.finished
    assert outcome.trouble is None


def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFT_OVER", "x")
    outcome = shell(tmp_path, "env | sort; pwd", env={"DECLARED": "1"}, secrets={"TOKEN": "t0psecret!"})
    names = [line.partition("=")[0] for line in outcome.stdout.tail.splitlines() if "=" in line]
    known = ["CALAUDIT_INVOCATION", "DECLARED", "HOME", "LC_ALL", "PATH", "PWD", "PYTHONPYCACHEPREFIX", "TMPDIR"]
    assert set(names) <= {*known, "TOKEN", "TZ", "_", "SHLVL", "OLDPWD"}
    assert {"DECLARED", "TOKEN"} <= set(names)
    assert outcome.stdout.tail.endswith("/work\n")


def test_a_signal(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "kill -SEGV $$")
    assert (outcome.exit_code, outcome.signal) == (None, signal.SIGSEGV)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    outcome = Local().run(job(tmp_path, "no-such-program"))
    assert not outcome.good
    assert outcome.trouble == "no-such-program could not be started: No such file or directory."


def test_a_log_has_a_cap_and_the_command_does_not_wait(tmp_path: Path) -> None:
    line = "0123456789" * 4
    script = f"i=0; while [ $i -lt 4000 ]; do echo {line}; i=$((i+1)); done"
    outcome = shell(tmp_path, script, log_cap=1000)
    assert outcome.good
    assert outcome.stdout.truncated
    assert outcome.stdout.written == 4000 * 41
    assert outcome.stdout.path.stat().st_size == 1000
    assert outcome.stdout.tail.endswith("6789\n")


def test_secrets_are_masked_across_writes(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "printf 'a t0ps'; sleep 0.2; printf 'ecret! b'", secrets={"TOKEN": "t0psecret!"})
    assert outcome.stdout.path.read_text() == "a [secret] b"
    assert outcome.stdout.leaked == ("TOKEN",)
    assert "t0ps" not in outcome.stdout.tail
    assert outcome.stderr.leaked == ()


def test_a_timeout_asks_first(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "trap 'echo asked; exit 9' TERM; while :; do sleep 0.1; done", timeout_s=0.5)
    assert outcome.timed_out
    assert not outcome.good
    assert outcome.stdout.tail == "asked\n"


def test_what_does_not_listen_is_killed_with_everything_below(tmp_path: Path) -> None:
    mark = f"sleep 98{os.getpid()}"
    script = f"trap '' TERM; setsid {mark} & {mark} & while :; do sleep 0.1; done"
    spawn = Spawn(argv=("sh", "-c", script), env={"PATH": os.environ["PATH"]}, cwd=tmp_path)
    outcome = supervise(job(tmp_path, "sh", timeout_s=0.5), spawn, grace=0.2)
    assert outcome.timed_out
    assert not alive(f"98{os.getpid()}")


def test_what_outlives_the_command_is_ended(tmp_path: Path) -> None:
    mark = f"97{os.getpid()}"
    outcome = shell(tmp_path, f"setsid sleep {mark} & echo started")
    assert outcome.good
    assert not alive(mark)
    assert outcome.stdout.tail == "started\n"


def test_children_of_others_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as mine:
        shell(tmp_path, "true")
        assert mine.poll() is None
        mine.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_command(tmp_path: Path, number: int) -> None:
    def interrupt() -> None:
        while not (tmp_path / "work" / "ready").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    outcome = shell(tmp_path, "echo before; : > ready; while :; do sleep 0.1; done")
    thread.join()
    assert outcome.interrupted
    assert outcome.stdout.path.read_text() == "before\n"


def test_memory_is_watched(tmp_path: Path) -> None:
    script = "import time; x = bytearray(200 << 20); time.sleep(0.5)"
    outcome = Local().run(job(tmp_path, "python3", "-c", script))
    assert outcome.good, outcome.stderr.tail
    assert outcome.peak_rss_bytes is not None
    assert outcome.peak_rss_bytes > 200 << 20


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    # RLIMIT_FSIZE stands for a full disk: both refuse a write half-way.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        outcome = shell(tmp_path, "echo 0123456789abcdef; exit 0")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert outcome.stdout.lost == "File too large"
    assert outcome.stdout.written == 17
    assert outcome.stdout.path.read_text() == "0123456789"


SPY = """
import sys
from pathlib import Path
from tests.execute.small import shell
outcome = shell(Path(sys.argv[1]), "for f in environ mem maps; do head -c1 /proc/$PPID/$f > /dev/null && echo $f; done")
print("read:", *outcome.stdout.tail.split())
with open("/proc/self/environ", "rb") as file:
    print("restored")
"""


def test_a_command_does_not_read_what_calaudit_holds(tmp_path: Path) -> None:
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        os.chown(place, *((65534, 65534) if nobody else (-1, -1)))
        said = subprocess.run(
            [*nobody, sys.executable, "-c", SPY, place], check=False, capture_output=True, text=True, env={**os.environ}
        )
    if nobody and ("Permission denied" in said.stderr or "No module named" in said.stderr):
        pytest.skip("only root can read this copy of calaudit")
    assert said.stdout.splitlines() == ["read:", "restored"], said.stderr


def test_what_is_closed_while_a_command_runs_is_opened_again(tmp_path: Path) -> None:
    libc = ctypes.CDLL(None)
    before = libc.prctl(3, 0, 0, 0, 0)
    shell(tmp_path, "true")
    assert libc.prctl(3, 0, 0, 0, 0) == before
