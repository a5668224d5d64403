"""What a run leaves is removed, and never stands in the way of another."""

import os
from pathlib import Path

import pytest

from calaudit.errors import UsageError
from calaudit.execute.nouns import StepFailed
from calaudit.execute.removal import remove_tree
from calaudit.execute.running import run_step
from calaudit.execute.workspace import sweep
from tests.execute.small import Bench, step, write

DEEP = '/usr/bin/python3 -c \'import os; [(os.mkdir("d"), os.chdir("d")) for _ in range(5000)]\''


def deepen(folder: Path, levels: int) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_everything_goes(tmp_path: Path) -> None:
    write(tmp_path, {"kept/file": "kept", "gone/a/b/file": "x"})
    gone = tmp_path / "gone"
    deepen(gone, 5000)
    odd = gone / os.fsdecode(b"\xff")
    odd.mkdir()
    deepen(odd, 3)
    (gone / "link").symlink_to(tmp_path / "kept")
    (gone / "a" / "link").symlink_to(tmp_path / "kept")
    os.mkfifo(gone / "a" / "pipe")
    (gone / "a" / "b").chmod(0)
    (gone / "a").chmod(0)
    remove_tree(gone)
    assert not gone.exists()
    assert (tmp_path / "kept" / "file").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_rights_that_were_taken_away_come_back_to_whoever_has_none_over_others(tmp_path: Path) -> None:
    write(tmp_path, {"gone/a/b/c/file": "x"})
    for place in (tmp_path, *tmp_path.rglob("*")):
        os.chown(place, 65534, 65534)
    (tmp_path / "gone" / "a" / "b").chmod(0)
    (tmp_path / "gone" / "a").chmod(0)
    here = os.open(tmp_path, os.O_RDONLY)
    child = os.fork()
    if child == 0:
        try:
            os.fchdir(here)
            os.setresuid(65534, 65534, 65534)
            remove_tree(Path("gone"))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(here)
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize(("kind", "where"), [("local", "."), ("local", "$TMPDIR"), ("bwrap", ".")])
def test_a_run_that_nests_leaves_nothing(bench: Bench, kind: str, where: str) -> None:
    bench.kind = kind
    bench.script(f"cp in.txt out/made.txt; cd {where}; {DEEP}\n")
    try:
        run_step(step(kind=kind), bench.setting())
    except (StepFailed, UsageError):
        assert where == "."
    assert list(bench.runs.iterdir()) == []
    bench.script("cp in.txt out/made.txt\n")
    run_step(step(kind=kind), bench.setting())


def test_sweeping_never_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    write(tmp_path, {"left/file": "x"})
    monkeypatch.setattr("calaudit.execute.removal._TRIES", 2)
    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        sweep(tmp_path)
    assert (tmp_path / "left" / "file").exists()
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []
