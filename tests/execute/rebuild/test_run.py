"""A rebuild and the port: what is written, what is signed, and what happens when a build fails."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from click.testing import CliRunner

from calaudit.cli import cli
from calaudit.contract import Contract, Schemas
from calaudit.contract.resources import data_root
from calaudit.execute.batch import Batch
from calaudit.execute.lock import locked
from calaudit.execute.means import Wish
from calaudit.execute.nouns import StepFailed
from calaudit.execute.rebuild import longform, place, session, vary
from calaudit.execute.rebuild.nouns import Class, Factor, Part
from calaudit.execute.rebuild.run import Done, report_place, run_rebuild
from calaudit.execute.rebuild.session import Session
from calaudit.execute.state import Plight
from calaudit.pins import load_directory
from examples.toolchain.owners import Owners
from tests.execute.small import NAME, Bench, make_port, raw, snapshot, step, write
from tests.execute.test_batch import Said

SCHEMAS = Schemas(data_root() / "schemas")
SAME = "cat in.txt > out/made.txt\n"
OTHER = "pwd > out/made.txt\n"
REPORT = "04-compiler/rebuild-report.json"


def rebuilt(
    bench: Bench, script: str, *, where: str | None = REPORT, aside: Path | None = None, **setting: Any
) -> Done:
    bench.script(script)
    with locked(bench.port):
        return run_rebuild(
            step(),
            bench.setting(**setting),
            builds=2,
            place=where,
            aside=aside or bench.root / "aside.json",
            schemas=SCHEMAS,
            told=lambda _: None,
        )


def test_only_the_report_reaches_the_port(bench: Bench) -> None:
    bench.script(OTHER)
    before = snapshot(bench.port)
    done = rebuilt(bench, OTHER)
    after = snapshot(bench.port)
    assert set(after) - set(before) == {"04-compiler", REPORT}
    assert {name: after[name] for name in before} == before
    document = json.loads(done.report.read_bytes())
    assert document["verdict"] == "differs"
    assert document["blocked"] is True
    assert document["differences"][0]["class"] == "path"
    assert document["differences"][0]["factors"] == ["build-path"]
    assert [one["part"] for one in document["builds"]][:3] == ["baseline", "identical", "varied"]
    assert len({one["invocation"] for one in document["builds"]}) == len(document["builds"])


def test_without_a_place_the_port_stays_as_it_is(bench: Bench) -> None:
    bench.script(SAME)
    before = snapshot(bench.port)
    done = rebuilt(bench, SAME, where=None)
    assert snapshot(bench.port) == before
    assert json.loads(done.report.read_bytes())["verdict"] == "reproducible"


def test_where_the_report_belongs(contract: Contract) -> None:
    assert report_place(step(gate="G5"), contract.gates) == REPORT
    assert report_place(step(gate="G1"), contract.gates) is None


Attest = Callable[[Any, int], dict[str, bytes]]


@pytest.fixture
def attest() -> Attest:
    def sign(record: Any, number: int) -> dict[str, bytes]:
        return {
            "attestations/make.0123abcd.link": record.invocation.encode(),
            f"attestations/make.0123abcd.{number}.dsse.json": record.invocation.encode(),
        }

    return sign


def test_builds_that_agree_with_the_port_are_attested(bench: Bench, attest: Attest) -> None:
    write(bench.port, {"out/made.txt": "input\n"})
    done = rebuilt(bench, SAME, attest=attest, keyid="0123abcd")
    assert done.attestations == (
        "attestations/make.0123abcd.1.dsse.json",
        "attestations/make.0123abcd.2.dsse.json",
        "attestations/make.0123abcd.link",
    )
    assert done.unsigned is None
    signed = {(bench.port / path).read_text() for path in done.attestations}
    builds = [b for b in done.rebuild.builds if b.part in (Part.BASELINE, Part.VARIED)]
    assert signed == {build.record.invocation for build in builds if build.record}


@pytest.mark.parametrize(
    ("script", "held", "why"), [(SAME, None, "no products"), (SAME, "x\n", "differ"), (OTHER, None, "differ")]
)
def test_what_is_not_attested(bench: Bench, attest: Attest, script: str, held: str | None, why: str) -> None:
    if held is not None:
        write(bench.port, {"out/made.txt": held})
    done = rebuilt(bench, script, attest=attest, keyid="0123abcd")
    assert not done.attestations
    assert not (bench.port / "attestations").exists()
    assert done.unsigned is not None
    assert why in done.unsigned


def test_real_attestations_keep_the_step_up_to_date(tmp_path: Path) -> None:
    files = {"in.txt": "input\n", "tools/make.sh": SAME}
    port = make_port(tmp_path / "port", {"make": raw(rebuilds=2)}, files)
    owners = Owners.make()
    owners.write_trust(tmp_path / "trust", ports=[NAME])
    keys = [owners.roles["model-functionary"][0]]
    batch = Batch(Wish(port=port, step="make", trust=load_directory(tmp_path / "trust")))
    batch.run(keys, Said())
    assert len(list((port / "attestations").iterdir())) == 2
    ((found, setting),) = batch.prepared(keys, Said())
    with locked(port):
        done = run_rebuild(
            found, setting, builds=2, place=None, aside=tmp_path / "r.json", schemas=SCHEMAS, told=lambda _: None
        )
    assert done.rebuild.reproducible
    assert len(done.attestations) == 3
    assert len(list((port / "attestations").glob("*.dsse.json"))) == 3
    again = Batch(Wish(port=port, step="make", trust=load_directory(tmp_path / "trust")))
    (line,) = again.listing()
    assert Plight.CURRENT in line


def test_a_build_that_cannot_stand_a_condition(bench: Bench) -> None:
    bench.script("test $TZ = UTC && cat in.txt > out/made.txt\n")
    with (
        pytest.raises(StepFailed, match="fails when its time-zone is"),
        Session(step(), bench.setting(), builds=2, told=lambda _: None) as one,
    ):
        one.run()
    assert not list(bench.runs.iterdir())


def test_a_build_that_cannot_stand_two_conditions(bench: Bench) -> None:
    bench.script("test $TZ = UTC || test $LC_ALL = C.UTF-8 && cat in.txt > out/made.txt\n")
    with (
        pytest.raises(StepFailed, match="fails when all conditions are others at once"),
        Session(step(), bench.setting(), builds=2, told=lambda _: None) as one,
    ):
        one.run()


def test_a_step_that_fails_writes_nothing(bench: Bench) -> None:
    bench.script("exit 3\n")
    before = snapshot(bench.port)
    with pytest.raises(StepFailed, match="exit code 3"):
        rebuilt(bench, "exit 3\n")
    assert snapshot(bench.port) == before


def test_one_build_is_none(bench: Bench) -> None:
    with pytest.raises(ValueError, match="two builds or more"):
        Session(step(), bench.setting(), builds=1, told=lambda _: None)


def test_a_clock_of_its_own(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for faketime shows what it is asked for; the real one is found by its name too."""
    program = tmp_path / "bin" / "faketime"
    write(tmp_path, {"bin/faketime": '#!/bin/sh\nAHEAD=$2; export AHEAD; shift 2\nexec "$@"\n'})
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    bench.script("date -u -d @$(( $(date +%s) + 0$AHEAD )) +%Y-%m-%d > out/made.txt\n")
    with Session(step(), bench.setting(), builds=2, told=lambda _: None) as one:
        rebuild = one.run()
    (difference,) = rebuild.differences
    assert difference.factors == (Factor.CLOCK,)
    assert difference.finding.label is Class.TIMESTAMP
    assert difference.tolerated


def test_workspaces_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, memory = tmp_path / "runs", tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(place, "_by_creation", lambda folder: folder != runs)
    assert place.choose_place(runs, [1], memory) == (memory / f"calaudit-rebuild-{os.geteuid()}", True)
    assert place.choose_place(runs, [1 << 50], memory) == (runs, False)
    assert place.choose_place(runs, [1], tmp_path / "none") == (runs, False)
    (memory / f"calaudit-rebuild-{os.geteuid()}").chmod(0o777)
    assert place.choose_place(runs, [1], memory) == (runs, False)
    monkeypatch.setattr(place, "_by_creation", lambda _: True)
    assert place.choose_place(runs, [1], memory) == (runs, True)


def test_the_order_of_files(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    if not place.choose_place(bench.runs, [])[1]:
        pytest.skip("no file system here lists names in the order of creation")
    write(bench.port, {f"in/{name}": name for name in "hgfedcba"})
    bench.script("ls -U in > out/made.txt\n")
    made = step(materials=("in.txt", "in/*"))
    with Session(made, bench.setting(), builds=2, told=lambda _: None) as one:
        (difference,) = one.run().differences
    assert difference.factors == (Factor.FILE_ORDER,)
    assert difference.finding.label is Class.ORDER
    assert "os.listdir" in difference.finding.remedy


def test_making_a_folder_anew_keeps_what_is_in_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, {"a/b/c": "1", "a/d": "2", "e": "3"})
    before = snapshot(root)
    vary.make_anew(root, reverse=True)
    assert snapshot(root) == before
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


def test_the_long_form(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"bin/diffoscope": '#!/bin/sh\ncmp "$4" "$5" > "$2"\nexit 1\n'})
    program = tmp_path / "bin" / "diffoscope"
    program.chmod(0o755)
    monkeypatch.setattr(longform, "which", lambda _: str(program))
    done = rebuilt(bench, OTHER, where=None)
    (written,) = done.long_forms
    assert "differ" in written.read_text()
    assert bench.port not in written.parents
    monkeypatch.setattr(longform, "LARGEST", 1)
    assert rebuilt(bench, OTHER, where=None, aside=tmp_path / "b.json").long_forms == ()


def test_an_interrupt_is_passed_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.script(SAME)
    real, count = session.execute, []

    def interrupted(*args: Any, **more: Any) -> Any:
        count.append(1)
        if len(count) == 3:
            raise StepFailed("interrupted", interrupted=True)
        return real(*args, **more)

    monkeypatch.setattr(session, "execute", interrupted)
    with pytest.raises(StepFailed) as caught, Session(step(), bench.setting(), builds=2, told=lambda _: None) as one:
        one.run()
    assert caught.value.interrupted
    assert len(count) == 3


@pytest.mark.skipif(which("bwrap") is None, reason="bubblewrap is not installed")
def test_on_the_command_line(tmp_path: Path) -> None:
    about = {"kind": "bwrap", "network": "none"}
    steps = {
        "bad": raw("bad.sh", gate="G5", role="compiler", executor=about, products=["04-compiler/logs/x.log"]),
        "make": raw(executor=about),
    }
    port = make_port(
        tmp_path / "port",
        steps,
        {"in.txt": "input\n", "tools/make.sh": SAME, "tools/bad.sh": "hostname > 04-compiler/logs/x.log || exit 3\n"},
    )
    done = CliRunner().invoke(cli, ["rebuild", "make", str(port)], standalone_mode=False)
    assert done.exit_code == 0, done.output
    assert "Reproducible: 3 builds are the same bytes" in done.output
    assert not (port / "out").exists()
    done = CliRunner().invoke(cli, ["rebuild", "bad", str(port)], standalone_mode=False)
    assert done.exit_code == 1, done.output
    assert "BLOCKED_REPRODUCIBILITY" in done.output
    assert "[hostname/user]" in done.output
    assert (port / REPORT).is_file()
    done = CliRunner().invoke(cli, ["rebuild", "make", str(port), "--report", str(port / "x.json")])
    assert done.exit_code == 2
    assert "lies in a port" in done.output
