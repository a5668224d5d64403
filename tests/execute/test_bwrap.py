"""The sandbox: what it shows, and what it does not. It fails, and is not skipped, where bubblewrap does not work."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from calaudit.errors import UsageError
from calaudit.execute import workspace
from calaudit.execute.bwrap import Bwrap
from calaudit.execute.nouns import Job, StepFailed, Toolchain
from calaudit.execute.procfs import descendants
from calaudit.execute.running import run_step
from tests.execute.small import Bench, job, shell, snapshot, step, write


@pytest.fixture(scope="module", autouse=True)
def works() -> None:
    """These tests need bubblewrap."""
    Bwrap().probe()


def test_fixed_names(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "pwd; uname -n; id -un; id -u; echo $HOME $TMPDIR; ls -A / /home /tmp", kind="bwrap")
    assert outcome.good, outcome.stderr.tail
    lines = outcome.stdout.tail.splitlines()
    assert lines[:5] == ["/port", "calaudit", "calaudit", "1000", "/home/calaudit /tmp"]
    assert set(lines[6 : lines.index("/home:")]) - {""} <= {
        *("bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "port", "proc", "sbin"),
        *("tmp", "usr"),
    }


def test_what_is_not_declared_is_not_there(tmp_path: Path) -> None:
    write(tmp_path, {"hidden.txt": "hidden", "work/seen.txt": "seen"})
    script = f"cat seen.txt; test ! -e {tmp_path}/hidden.txt; ls -A /root /var /etc/shadow /etc/hostname /sys"
    outcome = shell(tmp_path, script, kind="bwrap")
    assert outcome.stdout.tail == "seen"
    assert outcome.stderr.tail.count("No such file or directory") == 5


def test_only_the_workspace_home_and_tmp_can_be_written(tmp_path: Path) -> None:
    script = (
        "for d in / /usr /etc /dev/.. /port/.. ; do touch $d/x 2>/dev/null && echo $d; done; touch /port/x /tmp/x ~/x"
    )
    outcome = shell(tmp_path, script, kind="bwrap")
    assert outcome.stdout.tail == ""
    assert outcome.good, outcome.stderr.tail
    assert (tmp_path / "work" / "x").exists()


def test_inputs_cannot_be_written(tmp_path: Path) -> None:
    work = job(tmp_path, "sh", "-c", SPOIL, sealed=("00-source", "02-onnx/config.yaml"))
    write(work.workspace, {"00-source/deep/a.txt": "a\n", "02-onnx/config.yaml": "b\n", "02-onnx/old.txt": "c\n"})
    outcome = Bwrap().run(work)
    said = outcome.stderr.path.read_text()
    assert said.count("Read-only file system") == 3, said
    assert "busy" in said, "what is mounted cannot be taken away or replaced"
    assert {path: text for path, text in texts(work.workspace).items() if text} == {
        "00-source/deep/a.txt": "a\n",
        "02-onnx/config.yaml": "b\n",
        "02-onnx/old.txt": "more\n",
        "02-onnx/new.txt": "more\n",
    }


SPOIL = """
echo more >> 00-source/deep/a.txt; rm 00-source/deep/a.txt; echo more >> 02-onnx/config.yaml; rm -f 02-onnx/config.yaml
echo more > 02-onnx/new.txt; echo more > 02-onnx/old.txt
"""


@pytest.mark.parametrize("sealed", ["a/b/config.yaml", "a/b/deep"])
@pytest.mark.parametrize("moved", ["a", "a/b"])
def test_nothing_takes_the_place_of_an_input(sealed: str, moved: str, tmp_path: Path) -> None:
    asked = job(tmp_path, "sh", "-c", SHADOW, "sh", moved, sealed=(sealed,))
    write(asked.workspace, {"a/b/config.yaml": "b\n", "a/b/deep/x": "x\n"})
    outcome = Bwrap().run(asked)
    assert "cannot be moved" in outcome.stdout.tail
    assert texts(asked.workspace) == {"a/b/config.yaml": "b\n", "a/b/deep/x": "x\n", "a/b/made.txt": "made\n"}


SHADOW = """
echo made > a/b/made.tmp && mv a/b/made.tmp a/b/made.txt || exit 0
/usr/bin/python3 -c 'import os, sys; os.rename(sys.argv[1], "away")' $1 || { echo cannot be moved; exit 0; }
mkdir -p a/b/deep; echo altered > a/b/config.yaml; echo altered > a/b/deep/x
"""


@pytest.mark.parametrize("option", ["-r", "-Urm"])
def test_no_namespace_is_made_in_the_sandbox(option: str, tmp_path: Path) -> None:
    outcome = Bwrap().run(job(tmp_path, "unshare", "-U", option, "true"))
    assert not outcome.good
    assert "unshare" in outcome.stderr.tail


def test_what_is_held_above_what_is_sealed(tmp_path: Path) -> None:
    asked = job(tmp_path, "true", sealed=("c.txt", "a/b/1.txt", "a/x", "d/e/f/g"))
    assert asked.held == ("a", "a/b", "d", "d/e", "d/e/f")


def texts(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("products", "inputs", "sealed"),
    [
        (["b/made.txt"], ["a/1.txt", "a/x/2.txt", "c.txt"], {"a", "c.txt"}),
        (["a/made.txt"], ["a/1.txt", "a/x/2.txt", "c.txt"], {"a/1.txt", "a/x", "c.txt"}),
        (["a/**"], ["a/1.txt", "a/x/2.txt"], {"a/1.txt", "a/x/2.txt"}),
        (["a/*/made.txt"], ["a/1.txt", "a/x/2.txt", "a/x/y/3.txt"], {"a/1.txt", "a/x/2.txt", "a/x/y"}),
        (["a/b?/made.txt"], ["a/b*/2.txt", "a/bc/3.txt", "a/c/4.txt"], {"a/b*/2.txt", "a/bc/3.txt", "a/c"}),
    ],
)
def test_what_is_sealed(products: list[str], inputs: list[str], sealed: set[str]) -> None:
    found = workspace.sealed(step(products=tuple(products)), inputs)
    assert set(found) == sealed
    assert len(found) == len(sealed)


def test_the_network_is_not_there_and_an_attempt_is_told(tmp_path: Path) -> None:
    outcome = shell(
        tmp_path,
        "exec 2>&1; bash -c 'echo x > /dev/tcp/192.0.2.1/80'; bash -c ': > /dev/tcp/192.0.2.1/80'; true",
        kind="bwrap",
    )
    assert "Network is unreachable" in outcome.stdout.tail
    assert outcome.network_attempts is not None, "the test needs strace"
    assert outcome.network_attempts == ("connect to 192.0.2.1:80: ENETUNREACH (Network is unreachable)",)


def test_an_attempt_cannot_be_taken_back(bench: Bench) -> None:
    bench.kind = "bwrap"
    bench.script(f"cp in.txt out/made.txt; exec /usr/bin/python3 -c '{TAKE_BACK}'\n")
    with pytest.raises(StepFailed, match=r"make tried to reach a network.*192\.0\.2\.1:443"):
        run_step(step(kind="bwrap"), bench.setting())


TAKE_BACK = """
import contextlib, glob, os, signal, socket
with contextlib.suppress(OSError): socket.create_connection(("192.0.2.1", 443))
for name in ("/.calaudit-trace", *glob.glob("/proc/[0-9]*/fd/*")):
    for flags in (os.O_WRONLY | os.O_TRUNC, os.O_RDONLY | os.O_NONBLOCK):
        with contextlib.suppress(OSError): os.read(os.open(name, flags), 1 << 20)
    with contextlib.suppress(OSError): os.truncate(name, 0)
for one in glob.glob("/proc/[0-9]*"):
    if int(one[6:]) != os.getpid():
        with contextlib.suppress(OSError): os.kill(int(one[6:]), signal.SIGKILL)
"""


def test_attempts_of_many_threads_at_once_are_told(tmp_path: Path) -> None:
    script = """
import contextlib, socket, threading
def ask(n):
    with contextlib.suppress(OSError): socket.create_connection(("192.0.2.1", 1000 + n))
threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
for one in threads: one.start()
for one in threads: one.join()
"""
    outcome = Bwrap().run(job(tmp_path, "/usr/bin/python3", "-c", script))
    told = {one.split(":")[1] for one in outcome.network_attempts or ()}
    assert told == {str(1000 + n) for n in range(8)}


def test_what_a_command_leaves_in_the_background_does_not_hold_the_run(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "sleep 600 & setsid sleep 600 & echo started", kind="bwrap", timeout_s=60)
    assert outcome.good
    assert outcome.stdout.tail == "started\n"


def test_the_loopback_of_the_sandbox_is_no_network(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "bash -c ': > /dev/tcp/127.0.0.1/80'; true", kind="bwrap")
    assert "refused" in outcome.stderr.tail
    assert outcome.network_attempts == ()


def test_secrets_are_in_the_environment_and_on_no_command_line(tmp_path: Path) -> None:
    script = "test $TOKEN = t0psecret! && cat /proc/[0-9]*/cmdline | tr '\\0' ' ' > cmdlines"
    seen: list[bytes] = []

    def look() -> None:
        while not (tmp_path / "work" / "ready").exists():
            time.sleep(0.01)
        seen.extend(Path(f"/proc/{one}/cmdline").read_bytes() for one in descendants(os.getpid()))
        (tmp_path / "work" / "done").touch()

    thread = threading.Thread(target=look)
    thread.start()
    wait = "; : > ready; while ! test -e done; do sleep 0.05; done"
    outcome = shell(tmp_path, script + wait, kind="bwrap", secrets={"TOKEN": "t0ps" + "ecret!"})
    thread.join()
    assert outcome.good, outcome.stderr.tail
    # The script itself names the value, to compare; nothing else may.
    assert all(b"TOKEN" in line for line in seen if b"t0psecret!" in line)
    assert any(b"--args" in line for line in seen)


def test_exit_codes_come_through(tmp_path: Path) -> None:
    assert shell(tmp_path / "a", "exit 42", kind="bwrap").exit_code == 42
    assert shell(tmp_path / "b", "kill -9 $$", kind="bwrap").exit_code == 128 + 9
    outcome = Bwrap().run(job(tmp_path / "c", "no-such-program"))
    assert not outcome.good
    assert "no-such-program" in outcome.stderr.tail


def test_a_timeout_asks_the_command_and_not_the_sandbox(tmp_path: Path) -> None:
    script = "trap 'echo asked; exit 9' TERM; while :; do sleep 0.1; done"
    outcome = shell(tmp_path, script, kind="bwrap", timeout_s=0.7)
    assert outcome.timed_out
    assert outcome.stdout.tail == "asked\n"


def test_memory_is_watched_through_the_sandbox(tmp_path: Path) -> None:
    script = "import time; x = bytearray(200 << 20); time.sleep(0.5)"
    outcome = Bwrap().run(job(tmp_path, "/usr/bin/python3", "-c", script))
    assert outcome.good, outcome.stderr.tail
    assert outcome.peak_rss_bytes is not None
    assert outcome.peak_rss_bytes > 200 << 20


def test_a_sandbox_that_is_killed(bench: Bench) -> None:
    bench.kind = "bwrap"
    bench.script("echo x > out/made.txt; echo said; : > ready; exec sleep 60\n")
    before = snapshot(bench.port)

    def kill() -> None:
        while not list(bench.runs.glob("*/port/ready")):
            time.sleep(0.01)
        (sandbox,) = (
            p
            for p in descendants(os.getpid())
            if Path(f"/proc/{p}/comm").read_text() == "bwrap\n"
            and int(Path(f"/proc/{p}/stat").read_text().split(") ")[1].split()[1]) == os.getpid()
        )
        os.kill(sandbox, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(StepFailed, match="The sandbox was killed"):
        run_step(step(kind="bwrap"), bench.setting())
    thread.join()
    assert snapshot(bench.port) == before
    assert bench.log() == "said\n"


def test_a_network_attempt_fails_the_step_by_name(bench: Bench) -> None:
    bench.kind = "bwrap"
    bench.script("bash -c ': > /dev/tcp/192.0.2.1/443'; echo x > out/made.txt\n")
    with pytest.raises(StepFailed, match=r"make tried to reach a network.*192\.0\.2\.1:443"):
        run_step(step(kind="bwrap"), bench.setting())
    assert not (bench.port / "out").exists()


def test_a_hidden_input_fails_the_step(bench: Bench) -> None:
    write(bench.port, {"hidden.txt": "hidden"})
    bench.kind = "bwrap"
    bench.script(f"cat {bench.port}/hidden.txt > out/made.txt\n")
    with pytest.raises(StepFailed, match=r"hidden\.txt: No such file"):
        run_step(step(kind="bwrap"), bench.setting())


def test_the_sandbox_ends_with_calaudit(tmp_path: Path) -> None:
    mark = f"96{os.getpid()}"
    script = (
        "import sys; from pathlib import Path; from tests.execute.small import shell\n"
        f"shell(Path(sys.argv[1]), ': > ready; exec sleep {mark}', kind='bwrap')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, tmp_path]) as process:
        while not (tmp_path / "work" / "ready").exists():
            time.sleep(0.01)
        inside = list(descendants(process.pid))
        process.kill()
        process.wait()
    deadline = time.monotonic() + 30
    while any(_sleeps(pid, mark) for pid in inside):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _sleeps(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_toolchain_is_bound_read_only(tmp_path: Path) -> None:
    write(tmp_path, {"tools/bin/greet": "#!/bin/sh\necho hello\n"})
    (tmp_path / "tools" / "bin" / "greet").chmod(0o755)
    folder = tmp_path / "tools"
    chain = Toolchain(name="t", folders=(folder,), programs=(folder / "bin",), digest="0" * 64, versions={})
    asked: Job = job(tmp_path, "sh", "-c", f"greet; touch {folder}/x", toolchain=chain)
    outcome = Bwrap().run(asked)
    assert outcome.stdout.tail == "hello\n"
    assert "Read-only file system" in outcome.stderr.tail


def test_no_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"bubblewrap \(bwrap\) is not installed.*--executor local"):
        Bwrap().probe()


def test_no_namespaces(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    fake.chmod(0o755)
    with pytest.raises(UsageError, match=r"cannot make a sandbox on this machine .bwrap: No permissions"):
        Bwrap(str(fake)).run(job(tmp_path, "true"))


def test_an_endpoint_cannot_be_enforced(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can only cut off the network altogether"):
        shell(tmp_path, "true", kind="bwrap", network="licence.example:27000")


def test_a_look_up_names_the_host(tmp_path: Path) -> None:
    script = (
        "import socket, contextlib\nwith contextlib.suppress(OSError): socket.getaddrinfo('telemetry.example', 443)"
    )
    outcome = Bwrap().run(job(tmp_path, "/usr/bin/python3", "-c", script))
    assert outcome.good, outcome.stderr.tail
    assert outcome.network_attempts == ("a look-up of telemetry.example",)
