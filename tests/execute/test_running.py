"""One step: all of it reaches the port, or nothing does."""

import errno
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from calaudit.errors import UsageError
from calaudit.execute.attested import number_for
from calaudit.execute.nouns import Record, StepFailed
from calaudit.execute.parameters import parameters_of_run
from calaudit.execute.running import run_step
from tests.execute.small import Bench, snapshot, step, write


def refused(
    bench: Bench, told: str, script: str | None = None, error: type[Exception] = StepFailed, **more: Any
) -> str:
    """Run a step that fails, and see that it left nothing in the port but kept its logs."""
    setting = more.pop("setting", {})
    if script is not None:
        bench.script(script)
    before = snapshot(bench.port)
    with pytest.raises(error, match=told) as caught:
        run_step(step(kind=bench.kind, **more), bench.setting(**setting))
    assert snapshot(bench.port) == before
    assert not list(bench.runs.iterdir()), "no workspace is left"
    if error is StepFailed:
        assert "Logs: " in str(caught.value) or "could not be put" in str(caught.value)
        assert len(list(bench.logs.rglob("*.log"))) == 2
    return str(caught.value)


def test_a_step_that_works(bench: Bench) -> None:
    bench.script("cat in.txt > out/made.txt; echo said; echo told >&2\n")
    signed: list[Record] = []

    def attest(record: Record, number: int) -> dict[str, bytes]:
        signed.append(record)
        return {f"attestations/make.0123abcd.{number}.dsse.json": b"signed"}

    record = run_step(step(), bench.setting(attest=attest, keyid="0123abcd"))
    assert signed == [record]
    assert (bench.port / "out" / "made.txt").read_text() == "input\n"
    assert (bench.port / "attestations" / "make.0123abcd.1.dsse.json").read_bytes() == b"signed"
    assert not (bench.port / ".calaudit").exists()
    assert set(record.materials) == {"in.txt", "tools/make.sh"}
    assert set(record.products) == {"out/made.txt"}
    assert record.builder == "urn:calaudit:executor:local:v1"
    assert bench.log() == "said\n"
    assert bench.log("stderr") == "told\n"
    said = parameters_of_run(record)
    json.dumps(said)
    assert said["executor"]["guarantees"]["isolation"] == "none"  # type: ignore[index,call-overload]
    assert not list(bench.runs.iterdir())


def test_products_that_are_not_made_any_more_go(bench: Bench) -> None:
    write(bench.port, {"out/old.txt": "old", "kept.txt": "kept"})
    run_step(step(products=("out/*",)), bench.setting())
    assert not (bench.port / "out" / "old.txt").exists()
    assert (bench.port / "kept.txt").exists()


def test_the_command_sees_declared_inputs_only(bench: Bench) -> None:
    write(bench.port, {"hidden.txt": "hidden"})
    assert "hidden.txt" in refused(bench, "exit code 1", "cat hidden.txt > out/made.txt\n")


def test_exit_code(bench: Bench) -> None:
    told = refused(bench, "The step make ended with exit code 3", "echo oh no >&2; echo x > out/made.txt; exit 3\n")
    assert "oh no" in told


def test_a_signal(bench: Bench) -> None:
    refused(bench, "ended by signal 9", "echo x > out/made.txt; kill -9 $$\n")


def test_a_timeout(bench: Bench) -> None:
    refused(bench, "longer than its timeout_s of 0.3 s", "echo x > out/made.txt; exec sleep 60\n", timeout_s=0.3)


def test_an_interrupt(bench: Bench) -> None:
    def interrupt() -> None:
        while not list(bench.runs.glob("*/port/ready")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    bench.runs.mkdir()
    thread = threading.Thread(target=interrupt)
    thread.start()
    bench.script("echo x > out/made.txt; : > ready; exec sleep 60\n")
    with pytest.raises(StepFailed) as caught:
        run_step(step(), bench.setting())
    thread.join()
    assert caught.value.interrupted
    assert not (bench.port / "out").exists()
    assert not list(bench.runs.iterdir())


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("true", r"did not write out/made\.txt"),
        ("echo x > out/made.txt; echo y > out/more.txt", r"wrote out/more\.txt, which port\.yaml does not name"),
        ("echo x > out/made.txt; echo y > a; echo y > b", "wrote a and 1 more"),
        ("echo x > out/made.txt; echo y > in.txt", r"changed in\.txt"),
        ("echo x > out/made.txt; rm in.txt", r"removed in\.txt"),
        ("ln -s /etc/passwd out/made.txt", r"out/made\.txt: A symbolic link"),
        ("mkfifo out/made.txt", "named pipe"),
        ("echo x > out/made.txt; ln out/made.txt out/twice.txt", "hard links"),
    ],
)
def test_what_is_not_declared(bench: Bench, script: str, told: str) -> None:
    refused(bench, told, script)


def test_inputs_that_are_missing(bench: Bench) -> None:
    refused(bench, "reads none.txt, and the port has no such file", error=UsageError, materials=("none.txt",))
    refused(bench, r"reads data/\*\*", error=UsageError, materials=("data/**",))
    (bench.port / "link").symlink_to("in.txt")
    refused(bench, "symbolic link", error=UsageError, materials=("link",))


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo x > out/made.txt; echo $TOKEN", "wrote the secret TOKEN to its output"),
        ("echo x > out/made.txt; printf %s $TOKEN | base64 >&2", "wrote the secret TOKEN to its output"),
        ("echo x > out/made.txt; echo $TOKEN; exit 1", "wrote the secret TOKEN to its output"),
        ("printf 'a%sb' $TOKEN > out/made.txt", r"wrote the secret TOKEN into out/made\.txt"),
        ("printf %s $TOKEN | od -An -tx1 | tr -d ' \\n' > out/made.txt", r"wrote the secret TOKEN into out/made\.txt"),
    ],
)
def test_a_secret_that_leaks(bench: Bench, script: str, told: str) -> None:
    more = {"environment": {"TOKEN": "t0psecret!"}}
    said = refused(bench, told, script, secrets=("TOKEN",), setting=more)
    everything = said + bench.log() + bench.log("stderr")
    assert "t0psecret!" not in everything


def test_a_secret_in_a_name(bench: Bench) -> None:
    more = {"environment": {"TOKEN": "t0psecret!"}}
    told = "the secret TOKEN into the name of a product"
    refused(bench, told, "echo > out/$TOKEN", secrets=("TOKEN",), setting=more, products=("out/*",))


def test_a_secret_reaches_the_command_and_no_record(bench: Bench) -> None:
    bench.script("test ${#TOKEN} = 10 && echo x > out/made.txt\n")
    record = run_step(step(secrets=("TOKEN",)), bench.setting(environment={"TOKEN": "t0psecret!"}))
    assert "t0psecret!" not in json.dumps(parameters_of_run(record))
    assert parameters_of_run(record)["secrets"] == ["TOKEN"]


def test_a_secret_that_is_not_there(bench: Bench) -> None:
    refused(bench, "TOKEN is not set", error=UsageError, secrets=("TOKEN",))


def test_a_full_disk_while_publishing(bench: Bench) -> None:
    def full(point: str) -> None:
        if point == "staged":
            raise OSError(errno.ENOSPC, "No space left on device")

    refused(bench, "there is no space left. Nothing was changed in it", setting={"reached": full})


def test_a_disk_that_fails_after_the_commit(bench: Bench) -> None:
    def failing(point: str) -> None:
        if point.startswith("put "):
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(StepFailed, match="Run again to complete it"):
        run_step(step(), bench.setting(reached=failing))
    run_step(step(), bench.setting())
    assert (bench.port / "out" / "made.txt").exists()


def test_a_full_disk_for_the_command(bench: Bench) -> None:
    refused(bench, "exit code", "ulimit -f 1; head -c 100000 /dev/zero > out/made.txt || exit 7\n")


def test_workspaces_of_runs_that_were_killed_are_swept(bench: Bench, tmp_path: Path) -> None:
    write(bench.runs, {"0-left/port/x": "x"})
    (bench.runs / "0-left" / "port").chmod(0o500)
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (bench.runs / "0-left" / "link").symlink_to(outside)
    run_step(step(), bench.setting())
    assert not list(bench.runs.iterdir())
    assert outside.stat().st_mode & 0o777 == 0o750, "what a link leads to is not touched"


def test_a_port_that_is_read_only_is_never_written(bench: Bench, tmp_path: Path) -> None:
    """What runs sees neither the port nor a way to it: only its workspace is written before the journal."""
    bench.script("pwd > out/made.txt\n")
    run_step(step(), bench.setting())
    assert str(bench.port) not in (bench.port / "out" / "made.txt").read_text()


def test_a_product_that_is_swapped_before_it_is_published(bench: Bench) -> None:
    def swap(point: str) -> None:
        if point == "begin":
            (made,) = bench.runs.glob("*/port/out/made.txt")
            made.write_text("swapped")

    before = snapshot(bench.port)
    with pytest.raises(StepFailed, match=r"The products of make are not what it made\. out/made\.txt was changed"):
        run_step(step(), bench.setting(reached=swap))
    assert snapshot(bench.port) == before


@pytest.mark.parametrize(
    ("names", "number"),
    [
        (["1", "7"], 8),
        (["1", "999999999"], 2),
        (["3", "1000000000", "07", "0", "\u0663", "x"], 4),
        ([], 1),
    ],
)
def test_the_number_of_a_statement_has_at_most_nine_digits(names: list[str], number: int, bench: Bench) -> None:
    write(bench.port, {f"attestations/make.01234567.{name}.dsse.json": "{}" for name in names})
    write(bench.port, {"attestations/make.dsse.json": "{}"})
    assert number_for(bench.port, step(), "01234567ff", without=()) == number
