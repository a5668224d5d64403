"""Planted faults: each is found, attributed to what makes it show, and explained."""

from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from calaudit.contract import Schemas
from calaudit.contract.resources import data_root
from calaudit.execute.rebuild.nouns import Cause, Class, Difference, Factor, Part, Rebuild
from calaudit.execute.rebuild.report import lines, to_json
from calaudit.execute.rebuild.session import APART, Session
from tests.execute.small import Bench, step, write

SCHEMAS = Schemas(data_root() / "schemas")
bwrap = pytest.mark.skipif(which("bwrap") is None, reason="bubblewrap is not installed")


@dataclass(frozen=True)
class Made:
    """What came of building a script."""

    rebuild: Rebuild
    told: str

    @property
    def only(self) -> Difference:
        (difference,) = self.rebuild.differences
        return difference

    def parts(self) -> list[Part]:
        return [build.part for build in self.rebuild.builds]


def build(bench: Bench, script: str, kind: str = "bwrap", builds: int = 2, apart_s: float = 0, **more: Any) -> Made:
    """Build a Python script that writes into out/."""
    bench.kind = kind
    write(bench.port, {"tools/make.py": script, "in.txt": "input\n"})
    made = step(
        kind=kind, run=("python3", "tools/make.py"), tools=("tools/make.py",), **{"products": ("out/*",), **more}
    )
    with Session(made, bench.setting(), builds=builds, told=lambda _: None, apart_s=apart_s) as session:
        rebuild = session.run()
        document = to_json(rebuild)
        assert [error.message for error in SCHEMAS.errors("rebuild-report/v1", document)] == []
    assert not list(bench.runs.iterdir()), "no workspace is left"
    return Made(rebuild, "\n".join(lines(rebuild)))


def test_a_reproducible_step(bench: Bench) -> None:
    made = build(bench, "open('out/made.txt', 'w').write(open('in.txt').read())\n", builds=3)
    assert made.rebuild.reproducible
    assert not made.rebuild.blocked
    assert made.parts() == [Part.BASELINE, Part.IDENTICAL, Part.VARIED, Part.VARIED]
    usual, other = made.rebuild.builds[1].conditions, made.rebuild.builds[2].conditions
    for factor in (Factor.BUILD_PATH, Factor.HOSTNAME, Factor.USER, Factor.LOCALE, Factor.TIME_ZONE, Factor.UMASK):
        assert usual[factor] != other[factor], factor
    assert made.told.startswith("Reproducible: 4 builds are the same bytes")


CONDITIONS = """
import json, os, socket, time
json.dump({
    "build-path": os.getcwd(),
    "hostname": socket.gethostname(),
    "user": os.getuid(),
    "locale": os.environ["LC_ALL"],
    "time-zone": time.strftime("%z", time.localtime(0)),
    "umask": os.umask(0),
    "home": os.path.expanduser("~"),
    "hash-seed": hash("a"),
    "cpu-count": len(os.sched_getaffinity(0)),
    "file-order": os.listdir("."),
    "kernel-release": os.uname().release,
}, open("out/made.json", "w"))
"""


@bwrap
def test_each_condition_is_seen_to_vary(bench: Bench) -> None:
    made = build(bench, CONDITIONS)
    found = {d.change.place.split("/")[1]: d for d in made.rebuild.differences}
    fixed = {factor.value for factor in made.rebuild.fixed}
    assert fixed <= {"clock", "cpu-count", "file-order", "addresses", "kernel-release"}
    for name in {
        "build-path",
        "hostname",
        "user",
        "locale",
        "time-zone",
        "umask",
        "home",
        "hash-seed",
        "cpu-count",
        "kernel-release",
    } - fixed:
        assert [factor.value for factor in found[name].factors] == [name]
        assert found[name].cause is Cause.FACTOR
    assert found["build-path"].finding.label is Class.PATH
    assert found["hostname"].finding.label is Class.HOST
    assert found["home"].finding.label is Class.PATH
    if "file-order" not in fixed:
        assert found["file-order"].factors == (Factor.FILE_ORDER,)
        assert found["file-order"].finding.label is Class.ORDER


def test_whole_seconds(bench: Bench) -> None:
    """A build takes less than one; without a pause all would agree, and faketime is not everywhere."""
    script = "import time\nopen('out/made.txt', 'w').write(time.strftime('%H:%M:%S', time.gmtime()))\n"
    made = build(bench, script, apart_s=APART)
    assert made.only.finding.label is Class.TIMESTAMP
    assert not made.rebuild.reproducible


def test_a_program_that_runs_on_no_old_kernel(bench: Bench) -> None:
    script = "import os\nassert os.uname().release[:3] != '2.6', 'kernel too old'\nopen('out/made.txt', 'w')\n"
    made = build(bench, script)
    assert made.rebuild.reproducible
    assert "so it was left as it is" in made.rebuild.fixed[Factor.KERNEL]


def test_a_timestamp(bench: Bench) -> None:
    made = build(bench, "import time\nopen('out/made.txt', 'w').write(f'made at {time.time()}\\nthe rest\\n')\n")
    assert made.only.finding.label is Class.TIMESTAMP
    assert made.only.finding.bounded
    assert made.only.tolerated
    assert made.only.change.place == "line 1"
    assert "The time of the build is written into the product" in made.told
    assert "SOURCE_DATE_EPOCH" in made.told
    assert not made.rebuild.reproducible
    assert not made.rebuild.blocked
    assert "BLOCKED" not in made.told


@pytest.mark.parametrize("kind", ["local", pytest.param("bwrap", marks=bwrap)])
def test_an_absolute_path(bench: Bench, kind: str) -> None:
    made = build(bench, "import os\nopen('out/made.txt', 'w').write('from ' + os.path.abspath('in.txt'))\n", kind)
    assert made.only.finding.label is Class.PATH
    assert made.only.finding.bounded
    assert made.only.factors == (Factor.BUILD_PATH,)
    assert made.rebuild.blocked
    assert "The folder of the build is written into the product" in made.told
    assert made.told.splitlines()[-1].startswith("BLOCKED_REPRODUCIBILITY")


@pytest.mark.parametrize("name", ["made.txt", "made.json"])
def test_the_order_of_a_set(bench: Bench, name: str) -> None:
    script = f"import json\njson.dump(list({{str(n) * 3 for n in range(50)}}), open('out/{name}', 'w'))\n"
    made = build(bench, script)
    assert made.only.finding.label is Class.ORDER
    assert made.only.factors == (Factor.HASH_SEED,)
    assert "The same things stand in another order" in made.told
    assert "Sort sets before you write them" in made.told


def test_the_order_of_keys(bench: Bench) -> None:
    script = "import json\njson.dump({'k': {w * 3: 1 for w in set('abcdefgh')}}, open('out/made.json', 'w'))\n"
    made = build(bench, script)
    assert made.only.finding.label is Class.ORDER
    assert made.only.change.place == "/k"
    assert made.only.factors == (Factor.HASH_SEED,)


def test_a_set_is_no_matter_where_the_step_fixes_the_seed(bench: Bench) -> None:
    script = "import json\njson.dump(list({str(n) for n in range(50)}), open('out/made.json', 'w'))\n"
    made = build(bench, script, env={"PYTHONHASHSEED": "7"})
    assert made.rebuild.reproducible
    assert "PYTHONHASHSEED" in made.rebuild.fixed[Factor.HASH_SEED]


@bwrap
def test_a_host_name(bench: Bench) -> None:
    made = build(bench, "import os\nopen('out/made.txt', 'w').write('by ' + os.uname().nodename + '\\n')\n")
    assert made.only.finding.label is Class.HOST
    assert made.only.factors == (Factor.HOSTNAME,)
    assert '"calaudit" in build 1, "other-builder" in build 3' in made.told
    assert made.rebuild.blocked


def test_random_bytes(bench: Bench) -> None:
    made = build(bench, "import os\nopen('out/made.bin', 'wb').write(b'\\0head' + os.urandom(64))\n")
    assert {d.finding.label for d in made.rebuild.differences} == {Class.RANDOMNESS}
    assert {d.cause for d in made.rebuild.differences} == {Cause.CHANCE}
    assert "Two builds in the same conditions differ here" in made.told
    assert made.rebuild.blocked


def test_a_random_id_and_the_id_of_the_run(bench: Bench) -> None:
    script = """
import json, os, uuid
json.dump({"own": str(uuid.uuid4()), "run": os.environ["CALAUDIT_INVOCATION"]}, open("out/made.json", "w"))
"""
    made = build(bench, script)
    own, run = made.rebuild.differences
    assert own.finding.label is run.finding.label is Class.RANDOMNESS
    assert "UUID" in own.finding.explanation
    assert "CALAUDIT_INVOCATION" in run.finding.explanation


def test_an_address(bench: Bench) -> None:
    made = build(bench, "open('out/made.txt', 'w').write(f'{object()}\\n')\n")
    if not made.rebuild.differences:
        pytest.skip("this machine never moves things in memory")
    assert made.only.finding.label is Class.ADDRESS
    assert made.only.tolerated


def test_times_in_a_zip(bench: Bench) -> None:
    script = """
import os, shutil, time, zipfile
copy = shutil.copy("in.txt", os.environ["TMPDIR"])
os.utime(copy, (10**9 + time.time_ns() // 1000 % 10**9,) * 2)
with zipfile.ZipFile("out/made.zip", "w") as archive:
    archive.writestr(zipfile.ZipInfo("fixed.txt"), "same")
    archive.write(copy, "in.txt")
"""
    made = build(bench, script)
    assert made.only.change.members == ("in.txt",)
    assert made.only.finding.label is Class.TIMESTAMP
    assert "The modification time of a member is written into the archive" in made.told


def test_the_umask_in_a_tar(bench: Bench) -> None:
    script = """
import tarfile
open("out/x", "w").write("x")
with tarfile.open("out/made.tar", "w") as archive:
    info = archive.gettarinfo("out/x")
    info.mtime = 0
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    archive.addfile(info, open("out/x", "rb"))
"""
    made = build(bench, script)
    assert made.only.change.place == "mode"
    assert made.only.factors == (Factor.UMASK,)
    assert made.only.finding.label is Class.HOST


def test_what_the_port_holds_is_compared(bench: Bench) -> None:
    write(bench.port, {"out/made.txt": "something else\n"})
    made = build(bench, "open('out/made.txt', 'w').write('made\\n')\n")
    assert made.parts() == [Part.PUBLISHED, Part.BASELINE, Part.IDENTICAL, Part.VARIED]
    assert made.only.cause is Cause.PUBLISHED
    assert made.only.finding.label is Class.UNDECLARED
    assert made.rebuild.blocked
    assert (bench.port / "out" / "made.txt").read_text() == "something else\n"


def test_a_product_that_is_not_always_there(bench: Bench) -> None:
    script = "import os\nfor n in range(1 + (os.environ['TZ'] != 'UTC')): open(f'out/{n}', 'w').write('x')\n"
    made = build(bench, script)
    assert made.only.path == "out/1"
    assert made.only.change.place == ""
    assert made.only.factors == (Factor.TIME_ZONE,)


def test_two_conditions_at_once(bench: Bench) -> None:
    script = """
import os
both = os.environ["TZ"] != "UTC" and os.environ["LC_ALL"] != "C.UTF-8"
open("out/made.txt", "w").write("odd\\n" if both else "even\\n")
"""
    made = build(bench, script)
    assert made.only.cause is Cause.COMBINATION
    assert made.only.finding.label is Class.UNDECLARED
    assert made.rebuild.blocked


def test_logs_stay_out_of_it(bench: Bench) -> None:
    build(bench, "open('out/made.txt', 'w').write('made')\n")
    assert len(list(Path(bench.logs).rglob("*.log"))) == 6


def test_a_digest_of_what_differs_follows_it(bench: Bench) -> None:
    script = """
import hashlib, time
made = f"made at {time.time()}\\n"
open("out/made.txt", "w").write(made)
open("out/sums.txt", "w").write("sums\\n" + hashlib.sha256(made.encode()).hexdigest() + "  made.txt\\n")
open("out/sums.sha256", "w").write(hashlib.sha256(open("out/sums.txt", "rb").read()).hexdigest() + "\\n")
"""
    made = build(bench, script)
    assert [d.path for d in made.rebuild.differences] == ["out/made.txt", "out/sums.sha256", "out/sums.txt"]
    assert {d.finding.label for d in made.rebuild.differences} == {Class.TIMESTAMP}
    assert not made.rebuild.blocked
    assert "The SHA-256 of out/made.txt stands here" in made.told


def test_a_time_does_not_hide_what_stands_beside_it(bench: Bench) -> None:
    script = """
import os, time
open("out/made.txt", "w").write(f"made at {time.time()} in {os.environ['TZ']}\\n")
"""
    made = build(bench, script)
    assert made.only.factors == (Factor.TIME_ZONE,)
    assert made.only.cause is Cause.FACTOR
    assert made.only.finding.label is Class.LOCALE
    assert made.rebuild.blocked


def test_a_time_in_what_the_port_holds(bench: Bench) -> None:
    script = "import time\nopen('out/made.txt', 'w').write(f'made at {time.time()}\\n')\n"
    write(bench.port, {"out/made.txt": "made at 1700000000.25\n"})
    assert not build(bench, script).rebuild.blocked
    write(bench.port, {"out/made.txt": "made by 1700000000.25\n"})
    assert build(bench, script).rebuild.blocked
