"""Containers: what the engine is asked, by a stand-in that notes it; and a real run where an engine and image are."""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest

from calaudit.errors import UsageError
from calaudit.execute.nouns import Job, Toolchain
from calaudit.execute.oci import Oci, arguments
from calaudit.execute.running import run_step
from tests.execute.small import Bench, job, step, write

IMAGE = "registry.example/tools@sha256:" + "ab" * 32
STAND_IN = """#!/bin/sh
echo "$0 $*" >> {log}
case "$1" in
  info) exit {info} ;;
  image) exit {image} ;;
  --version) echo "podman version 5.4.2" ;;
  run) env | grep ^TOKEN; {run} ;;
esac
"""


@pytest.fixture
def asked(tmp_path: Path) -> Job:
    chain = Toolchain(name="t", folders=(Path("/opt/t"),), programs=(Path("/opt/t/bin"),), digest="0" * 64, versions={})
    env = {"DECLARED": "1"}
    secrets = {"TOKEN": "t0psecret!"}
    return job(tmp_path, "npuc", "--in", "m.onnx", image=IMAGE, env=env, secrets=secrets, toolchain=chain)


def engine(tmp_path: Path, *, info: int = 0, image: int = 0, run: str = "exit 0") -> Oci:
    program = tmp_path / "podman"
    program.write_text(STAND_IN.format(log=tmp_path / "asked.txt", info=info, image=image, run=run))
    program.chmod(0o755)
    return Oci(str(program))


@pytest.mark.parametrize("podman", [True, False])
@pytest.mark.parametrize("root", [True, False])
def test_what_is_asked(asked: Job, *, podman: bool, root: bool) -> None:
    words = arguments(asked, podman=podman, root=root)
    assert words[:2] == ["run", "--rm"]
    for word in ("--pull=never", "--network=none", "--read-only", "--cap-drop=ALL", "--hostname=calaudit"):
        assert word in words
    assert f"--user={1000 if root else os.geteuid()}:{1000 if root else os.getegid()}" in words
    assert ("--unsetenv-all" in words) is podman
    assert ("--userns=keep-id" in words) is (podman and not root)
    assert f"{asked.workspace}:/port:rw" in words
    assert "/opt/t:/opt/t:ro" in words
    assert words[-5:] == ["--entrypoint", "npuc", IMAGE, "--in", "m.onnx"]
    assert words[words.index("TOKEN") - 1] == "--env"
    assert "DECLARED=1" in words
    assert "PATH=/opt/t/bin:/usr/local/bin:/usr/bin:/bin" in words
    assert not [word for word in words if "t0psecret" in word]


def test_a_run(asked: Job, tmp_path: Path) -> None:
    outcome = engine(tmp_path, run="echo hello; exit 3").run(asked)
    assert outcome.exit_code == 3
    assert outcome.stdout.path.read_text() == "TOKEN=[secret]\nhello\n"
    assert outcome.stdout.leaked == ("TOKEN",)
    assert engine(tmp_path).versions()["podman"] == "5.4.2"


def test_a_timeout_kills_by_name(asked: Job, tmp_path: Path) -> None:
    outcome = engine(tmp_path, run="exec sleep 60").run(replace(asked, timeout_s=0.2, argv=("sleep", "60")))
    assert outcome.timed_out
    lines = (tmp_path / "asked.txt").read_text().splitlines()
    assert any(f"kill --signal=15 calaudit-{asked.invocation}" in line for line in lines)
    assert any(f"kill --signal=9 calaudit-{asked.invocation}" in line for line in lines)


def test_the_engine_s_own_failure_is_not_the_command_s(asked: Job, tmp_path: Path) -> None:
    outcome = engine(tmp_path, run="echo no such file >&2; exit 127").run(asked)
    assert outcome.trouble == "The container could not start the command; its message is in the log."


def test_what_is_missing(asked: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is not on this machine, and nothing is pulled"):
        engine(tmp_path, image=1).run(asked)
    with pytest.raises(UsageError, match="does not work on this machine"):
        engine(tmp_path, info=1).run(asked)
    with pytest.raises(UsageError, match="by digest"):
        engine(tmp_path).run(replace(asked, image=None))
    with pytest.raises(UsageError, match="can only cut off"):
        engine(tmp_path).run(replace(asked, network="licence.example:1"))
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    monkeypatch.delenv("CALAUDIT_OCI", raising=False)
    with pytest.raises(UsageError, match="Neither podman nor docker"):
        Oci().probe()


# With a real engine ---------------------------------------------------------------------------------------------------

needs_podman = pytest.mark.skipif(
    which("podman") is None or not Path("/bin/busybox").exists(),
    reason="podman and a static busybox are not installed (apt-get install podman runc uidmap busybox-static)",
)
REPOSITORY = "registry.example/tools"
CONF = """[containers]
default_ulimits=["nofile=1024:4096","nproc=1024:1024"]
[engine]
runtime="runc"
cgroup_manager="cgroupfs"
events_logger="none"
tmp_dir="{root}/tmp"
"""
STORAGE = """[storage]
driver="vfs"
graphroot="{root}/graph"
runroot="{root}/run"
"""


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, str]]:
    """An OCI layout with an image of busybox alone, and its digest; podman's stores are empty ones of this test."""
    stores = Path(tempfile.mkdtemp(prefix="ca-"))
    write(stores, {"containers.conf": CONF.format(root=stores), "storage.conf": STORAGE.format(root=stores)})
    monkeypatch.setenv("CONTAINERS_CONF", str(stores / "containers.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(stores / "storage.conf"))
    monkeypatch.setenv("CALAUDIT_OCI", "podman")
    root = tmp_path / "root"
    for name in ("bin", "tmp", "port", "home/calaudit"):
        (root / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin" / "busybox")
    for name in ("sh", "cat", "ls", "id", "sleep", "uname", "touch", "true"):
        (root / "bin" / name).symlink_to("busybox")
    with tarfile.open(tmp_path / "root.tar", "w") as tar:
        tar.add(root, ".")
    for words in (
        ("import", "--quiet", tmp_path / "root.tar", "localhost/made:1"),
        ("save", "--quiet", "--format", "oci-dir", "--output", tmp_path / "layout", "localhost/made:1"),
        ("rmi", "--force", "localhost/made:1"),
    ):
        subprocess.run(["podman", *words], check=True, capture_output=True)
    (manifest,) = json.loads((tmp_path / "layout" / "index.json").read_bytes())["manifests"]
    yield tmp_path / "layout", manifest["digest"]
    shutil.rmtree(stores)


@needs_podman
def test_a_real_container_from_a_layout(asked: Job, layout: tuple[Path, str], bench: Bench) -> None:
    folder, digest = layout
    image = f"{REPOSITORY}@{digest}"
    with pytest.raises(UsageError, match="is not on this machine, and nothing is pulled"):
        Oci().run(replace(asked, image=image))
    bench.script("pwd; id -u; uname -n; ls -A / ; touch /x; cat /proc/net/dev; cat in.txt > out/made.txt")
    record = run_step(step(kind="oci", image=image), bench.setting(executor=Oci(layouts=[folder])))
    assert (bench.port / "out" / "made.txt").read_text() == "input\n"
    said = bench.log().splitlines()
    assert said[0] == "/port"
    assert said[2] == "calaudit"
    assert "root" not in said
    assert "Read-only file system" in bench.log("stderr")
    interfaces = [line.split(":")[0].strip() for line in said if ":" in line]
    assert interfaces == ["lo"], "no network but the container's own loopback"
    assert record.internal_parameters()["executor"]["image"] == image  # type: ignore[index,call-overload]
    outcome = Oci().run(replace(asked, image=image, toolchain=None, argv=("sh", "-c", "sleep 60"), timeout_s=1))
    assert outcome.timed_out
    left = subprocess.run(["podman", "ps", "-aq"], check=True, capture_output=True, text=True)
    assert left.stdout == ""


@pytest.mark.parametrize(
    ("index", "told"),
    [
        ('{"manifests": []}', "nothing is pulled"),
        ("{", "no OCI image layout"),
        ('{"manifests": [{"digest": "DIGEST"}]}', "not what its digest says"),
        (None, "no OCI image layout"),
    ],
)
def test_a_layout_that_does_not_hold_the_image(tmp_path: Path, index: str | None, told: str) -> None:
    digest = IMAGE.partition("@")[2]
    write(tmp_path, {f"layout/blobs/sha256/{digest[7:]}": "{}"})
    if index is not None:
        write(tmp_path, {"layout/index.json": index.replace("DIGEST", digest)})
    made = engine(tmp_path, image=1)
    made._layouts = [tmp_path / "layout"]
    with pytest.raises(UsageError, match=told):
        made.run(job(tmp_path, "true", image=IMAGE))
