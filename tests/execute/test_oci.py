"""Containers: what the engine is asked, by a stand-in that notes it; and real runs by the engines that are there."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from calaudit.errors import UsageError
from calaudit.execute.nouns import Job, Toolchain
from calaudit.execute.oci import Oci
from calaudit.execute.oci_arguments import arguments
from calaudit.execute.parameters import parameters_of_run
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
    words = arguments(replace(asked, sealed=("in.txt", "a/b/c.txt")), IMAGE, podman=podman, root=root)
    assert words[:2] == ["run", "--rm"]
    for word in ("--pull=never", "--network=none", "--read-only", "--cap-drop=ALL", "--hostname=calaudit"):
        assert word in words
    assert f"--user={1000 if root else os.geteuid()}:{1000 if root else os.getegid()}" in words
    assert ("--unsetenv-all" in words) is podman
    assert ("--userns=keep-id" in words) is (podman and not root)
    assert f"type=bind,source={asked.workspace},target=/port" in words
    assert f"type=bind,source={asked.workspace}/in.txt,target=/port/in.txt,readonly" in words
    held = [words.index(f"type=bind,source={asked.workspace}/{at},target=/port/{at}") for at in ("a", "a/b")]
    assert held == sorted(held)
    assert held[1] < words.index(f"type=bind,source={asked.workspace}/a/b/c.txt,target=/port/a/b/c.txt,readonly")
    assert "type=bind,source=/opt/t,target=/opt/t,readonly" in words
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


# With real engines ----------------------------------------------------------------------------------------------------

BUSYBOX = Path("/bin/busybox")
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


def demand(fulfilled: bool, reason: str) -> None:
    """Skip where an engine is not there, or may not make containers; CALAUDIT_TEST_ENGINES=required lets none be."""
    if not fulfilled and os.environ.get("CALAUDIT_TEST_ENGINES") != "required":
        pytest.skip(reason)
    assert fulfilled, reason


def demand_programs(*names: str) -> None:
    missing = [name for name in names if which(name) is None]
    demand(
        not missing,
        f"not installed: {', '.join(missing)} (apt-get install podman runc uidmap docker.io busybox-static)",
    )


def demand_containers(engine: str, root: Path) -> None:
    """Demand that the machine lets the engine run anything, asked as plainly as can be."""
    with tarfile.open(root / "image.tar", "w") as tar:
        tar.add(BUSYBOX, "bin/busybox")
    plain = ["run", "--rm", "--network=none", "probe", "/bin/busybox", "true"]
    for words in (["import", root / "image.tar", "probe"], plain, ["rmi", "--force", "probe"]):
        done = subprocess.run([engine, *words], check=False, capture_output=True, text=True)
        demand(not done.returncode, f"{engine} makes no containers on this machine: {done.stderr.strip()}")


@contextmanager
def podman(stores: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """podman with empty stores."""
    demand_programs("podman", "runc", "busybox")
    write(stores, {"containers.conf": CONF.format(root=stores), "storage.conf": STORAGE.format(root=stores)})
    monkeypatch.setenv("CONTAINERS_CONF", str(stores / "containers.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(stores / "storage.conf"))
    yield "podman"


@contextmanager
def docker(stores: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """docker with a daemon of its own, and an empty store."""
    demand_programs("docker", "dockerd", "busybox")
    demand(os.geteuid() == 0, "a docker daemon needs root")
    socket = f"unix://{stores}/docker.sock"
    monkeypatch.setenv("DOCKER_HOST", socket)
    words = ["--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs", f"--host={socket}"]
    words += [f"--data-root={stores}/data", f"--exec-root={stores}/exec", f"--pidfile={stores}/pid"]
    with (stores / "log").open("wb") as log, subprocess.Popen(["dockerd", *words], stdout=log, stderr=log) as daemon:
        try:
            while subprocess.run(["docker", "info"], check=False, capture_output=True).returncode:
                demand(daemon.poll() is None, f"dockerd does not start: {(stores / 'log').read_text()[-500:]}")
            yield "docker"
        finally:
            daemon.terminate()
            daemon.wait()


@pytest.fixture(params=[podman, docker])
def real(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    stores = Path(tempfile.mkdtemp(prefix="ca-"))  # a socket's path is short
    try:
        with request.param(stores, monkeypatch) as name:
            demand_containers(name, stores)
            monkeypatch.setenv("CALAUDIT_OCI", name)
            yield name
    finally:
        shutil.rmtree(stores, ignore_errors=True)


def blob(layout: Path, data: bytes, kind: str) -> dict[str, Any]:
    """Put a blob into a layout; its descriptor."""
    digest = hashlib.sha256(data).hexdigest()
    (layout / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
    (layout / "blobs" / "sha256" / digest).write_bytes(data)
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}


@pytest.fixture
def layout(tmp_path: Path) -> tuple[Path, str]:
    """An OCI layout with an image of busybox alone, and the digest of its manifest."""
    root, packed, folder = tmp_path / "root", io.BytesIO(), tmp_path / "layout"
    for name in ("bin", "tmp", "port", "home/calaudit"):
        (root / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, root / "bin" / "busybox")
    for name in ("sh", "cat", "ls", "id", "sleep", "uname", "touch", "true", "dd"):
        (root / "bin" / name).symlink_to("busybox")
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(root, ".")
    layer = blob(folder, packed.getvalue(), "layer.v1.tar")
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers"}}
    config["rootfs"]["diff_ids"] = [layer["digest"]]  # type: ignore[index]
    described = blob(folder, json.dumps(config).encode(), "config.v1+json")
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"}
    listed = blob(folder, json.dumps({**manifest, "config": described, "layers": [layer]}).encode(), "manifest.v1+json")
    index = {"schemaVersion": 2, "manifests": [listed]}
    write(folder, {"index.json": json.dumps(index), "oci-layout": '{"imageLayoutVersion": "1.0.0"}'})
    return folder, listed["digest"]


SCRIPT = """pwd; id -u; uname -n; ls -A /
cat /proc/net/dev
touch /x; echo more >> in.txt; echo more >> tools/new.sh
cat in.txt > out/made.txt
dd if=/dev/zero of=/dev/null bs=64M count=40
"""


def test_a_real_container_from_a_layout(real: str, asked: Job, layout: tuple[Path, str], bench: Bench) -> None:
    folder, digest = layout
    image = f"{REPOSITORY}@{digest}"
    with pytest.raises(UsageError, match="is not on this machine, and nothing is pulled"):
        Oci().run(replace(asked, image=image))
    bench.script(SCRIPT)
    record = run_step(step(kind="oci", image=image), bench.setting(executor=Oci(layouts=[folder])))
    assert (bench.port / "out" / "made.txt").read_text() == "input\n"
    said = bench.log().splitlines()
    assert said[0] == "/port"
    assert said[2] == "calaudit"
    assert "root" not in said
    complaints = bench.log("stderr")
    assert complaints.count("Read-only file system") == 3, "neither the image nor an input can be written"
    interfaces = [line.split(":")[0].strip() for line in said if ":" in line]
    assert interfaces == ["lo"], "no network but the container's own loopback"
    assert parameters_of_run(record)["executor"]["image"] == image  # type: ignore[index,call-overload]
    assert record.outcome.peak_rss_bytes is not None
    assert record.outcome.peak_rss_bytes > 64 << 20, "the command's memory, not that of the engine's client"
    outcome = Oci(layouts=[folder]).run(
        replace(
            asked, image=image, toolchain=None, argv=("sh", "-c", "trap 'exit 1' TERM; sleep 60 & wait"), timeout_s=1
        )
    )
    assert outcome.timed_out
    left = subprocess.run([real, "ps", "-aq"], check=True, capture_output=True, text=True)
    assert left.stdout == ""


@pytest.mark.parametrize("part", ["config", "layer"])
def test_an_image_with_another_part_is_not_run(real: str, asked: Job, layout: tuple[Path, str], part: str) -> None:
    folder, digest = layout
    manifest = json.loads((folder / "blobs" / "sha256" / digest[7:]).read_bytes())
    swapped = manifest["config"] if part == "config" else manifest["layers"][0]
    path = folder / "blobs" / "sha256" / swapped["digest"][7:]
    path.write_bytes(path.read_bytes().replace(b"linux", b"Linux").replace(b"ELF", b"elf"))
    with pytest.raises(UsageError, match=r"is not what its digest says|could not be taken"):
        Oci(layouts=[folder]).run(replace(asked, image=f"{REPOSITORY}@{digest}"))


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
