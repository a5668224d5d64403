"""Fifty kills: calaudit, the sandbox or the step, at points and moments drawn by a seed; the port is whole each time.

What is killed is a real process, with SIGKILL. Afterwards the next run's recovery is called; then the port is, byte for
byte, what it was before or what a run that nobody disturbs makes of it.
"""

import os
import random
import signal
import time
import traceback
from pathlib import Path

import pytest

from calaudit.errors import CalauditError
from calaudit.execute import journal
from calaudit.execute.bwrap import Bwrap
from calaudit.execute.lock import locked
from calaudit.execute.nouns import Record
from calaudit.execute.procfs import descendants
from calaudit.execute.running import run_step
from tests.execute.small import Bench, snapshot, step, write

STEP = step(kind="bwrap", products=("out/made.txt", "parts/**"))
SCRIPT = """
mkdir -p parts/deep
for n in 1 2 3 4 5 6; do echo $n > parts/$n; echo $n > parts/deep/$n; sleep 0.01; done
cat in.txt > out/made.txt
"""
POINTS = 26
"""More than a publication has: those beyond the end kill nothing, and the run completes."""


def attest(record: Record, number: int) -> dict[str, bytes]:
    return {
        f"attestations/{record.step.name}.0123abcd.{number}.dsse.json": b"signed",
        "attestations/make.link": b"link",
    }


def prepare(bench: Bench) -> None:
    bench.kind = "bwrap"
    bench.script(SCRIPT)
    write(bench.port, {"parts/7": "of an earlier run", "parts/deep/1": "of an earlier run", "kept/x": "x"})
    write(bench.port, {"attestations/make.0123abcd.1.dsse.json": "of an earlier run"})


def run_in_child(bench: Bench, point: int | None) -> int:
    """Fork a calaudit that runs the step, and that kills itself at a point of the journal if one is given."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        seen: list[str] = []

        def reached(name: str) -> None:
            if len(seen) == point:
                os.kill(os.getpid(), signal.SIGKILL)
            seen.append(name)

        with locked(bench.port):
            journal.recover(bench.port)
            run_step(STEP, bench.setting(attest=attest, keyid="0123abcd", reached=reached))
        status = 0
    except CalauditError:
        status = 3
    except BaseException:  # a child that must not run on into pytest
        traceback.print_exc(file=(bench.root / "crash.txt").open("w"))
        raise
    finally:
        os._exit(status)


def wait(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def victim(pid: int, who: str) -> int | None:
    """The process to kill, among those that run at the moment."""
    if who == "calaudit":
        return pid
    for one in descendants(pid):
        try:
            name = Path(f"/proc/{one}/comm").read_text().strip()
        except OSError:
            continue
        if name == {"sandbox": "bwrap", "step": "sh"}[who]:
            return one
    return None


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], float]:
    """What a run that nobody disturbs makes of the port, and how long it takes."""
    Bwrap().probe()
    bench = Bench(tmp_path_factory.mktemp("undisturbed"))
    bench.port.mkdir()
    prepare(bench)
    begun = time.monotonic()
    assert wait(run_in_child(bench, None)) == 0
    return snapshot(bench.port), time.monotonic() - begun


@pytest.mark.parametrize("seed", range(50))
def test_the_port_is_whole(bench: Bench, undisturbed: tuple[dict[str, str], float], seed: int) -> None:
    after, seconds = undisturbed
    chance = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    prepare(bench)
    before = snapshot(bench.port)
    who = ("journal", "calaudit", "sandbox", "step")[seed % 4]
    if who == "journal":
        ended = wait(run_in_child(bench, chance.randrange(POINTS)))
        assert ended in (0, -signal.SIGKILL)
    else:
        pid = run_in_child(bench, None)
        time.sleep(chance.uniform(0, seconds))
        one = victim(pid, who)
        if one is not None:
            os.kill(one, signal.SIGKILL)
        ended = wait(pid)
        assert ended in (0, 3, -signal.SIGKILL)
        if ended == 3:
            assert snapshot(bench.port) == before, "a step that failed left nothing, not even a journal"
            assert len(list(bench.logs.rglob("*.log"))) in (0, 2), "none where the kill met the probe of the sandbox"
    journal.recover(bench.port)
    assert snapshot(bench.port) in (before, after)
    if ended == 0:
        assert snapshot(bench.port) == after
    assert wait(run_in_child(bench, None)) == 0
    assert snapshot(bench.port) == after
    assert not list(bench.runs.iterdir()), "the next run sweeps what a killed one left"
