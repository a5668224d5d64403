"""Publishing is all or nothing, wherever it is cut off."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from calaudit.errors import UsageError
from calaudit.execute import journal
from calaudit.execute.lock import locked
from tests.execute.small import snapshot, write

BEFORE = {"port.yaml": "x", "a/old.txt": "old", "a/deep/gone.txt": "gone", "b/kept.txt": "kept"}
WRITES: dict[str, Path | bytes] = {"a/old.txt": b"new", "c/d/made.txt": b"made", "e.txt": b"e"}
REMOVES = ("a/deep/gone.txt",)
AFTER = {"port.yaml": "x", "a/old.txt": "new", "c/d/made.txt": "made", "e.txt": "e", "b/kept.txt": "kept"}


class Cut(Exception):
    """The power failed."""


@pytest.fixture
def port(tmp_path: Path) -> Path:
    root = tmp_path / "port"
    write(root, BEFORE)
    return root


def texts(root: Path) -> dict[str, str]:
    return {p.relative_to(root).as_posix(): p.read_text() for p in sorted(root.rglob("*")) if p.is_file()}


def points(port: Path) -> list[str]:
    """The points that a publication passes."""
    seen: list[str] = []
    journal.publish(port, WRITES, REMOVES, reached=seen.append)
    return seen


def test_publishing(port: Path) -> None:
    journal.publish(port, WRITES, REMOVES)
    assert texts(port) == AFTER
    assert not (port / "a" / "deep").exists()
    assert not journal.pending(port)
    assert journal.recover(port) is None


def test_files_are_copied_with_their_right_to_run(port: Path, tmp_path: Path) -> None:
    source = tmp_path / "program"
    source.write_text("#!/bin/sh\n")
    source.chmod(0o755)
    journal.publish(port, {"bin/program": source, "bin/text": b"text"})
    assert os.access(port / "bin" / "program", os.X_OK)
    assert not os.access(port / "bin" / "text", os.X_OK)
    assert source.exists()


@pytest.mark.parametrize("number", range(14))
def test_cut_off_anywhere(port: Path, tmp_path: Path, number: int) -> None:
    other = tmp_path / "other"
    write(other, BEFORE)
    names = points(other)
    assert len(names) == 14, "every point is tried"
    script = (
        "import os, signal, sys; from pathlib import Path; from calaudit.execute import journal\n"
        "from tests.execute.test_journal import REMOVES, WRITES\n"
        "seen = []\n"
        "def reached(name):\n"
        "    if len(seen) == int(sys.argv[2]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    seen.append(name)\n"
        "journal.publish(Path(sys.argv[1]), WRITES, REMOVES, reached=reached)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, port, str(number)], check=False)
    assert ended.returncode == -signal.SIGKILL
    committed = number >= names.index("committed")
    told = journal.recover(port)
    assert texts(port) == (AFTER if committed else BEFORE), names[number]
    if 0 < number < len(names) - 1:
        assert told == ("completed" if committed else "rolled back")
    assert journal.recover(port) is None
    journal.publish(port, WRITES, REMOVES)
    assert texts(port) == AFTER


def test_a_recovery_that_is_cut_off_is_taken_up_again(port: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_at(port, "put a/old.txt")
    rename = os.rename
    done: list[str] = []

    def failing(source: str, target: str, **more: int) -> None:
        if len(done) == 2:
            raise OSError(errno.EIO, "no")
        done.append(target)
        rename(source, target, **more)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OSError, match="no"):
        journal.recover(port)
    monkeypatch.undo()
    assert journal.recover(port) == "completed"
    assert texts(port) == AFTER


def cut_at(port: Path, where: str) -> None:
    def reached(name: str) -> None:
        if name == where:
            raise Cut

    with pytest.raises(Cut):
        journal.publish(port, WRITES, REMOVES, reached=reached)


def test_an_error_before_the_commit_leaves_nothing(port: Path) -> None:
    for where in ("begin", "stage c/d/made.txt", "staged", "commit"):
        cut_at(port, where)
        assert texts(port) == BEFORE
        assert not journal.pending(port)


def test_an_error_after_it_is_completed_by_the_next_one(port: Path) -> None:
    cut_at(port, "put c/d/made.txt")
    assert journal.pending(port)
    journal.publish(port, {"f.txt": b"f"})
    assert texts(port) == {**AFTER, "f.txt": "f"}


def test_a_full_disk_leaves_nothing(port: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = snapshot(port)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            journal.publish(port, WRITES, REMOVES)
    assert snapshot(port) == before


@pytest.mark.parametrize(
    "path",
    ["", "/etc/x", "../x", "a/../../x", "a//b", "a/", "./a", ".calaudit/commit.json", ".calaudit", "a\nb", "a\\b"],
)
def test_paths_that_lead_elsewhere(port: Path, path: str) -> None:
    before = snapshot(port)
    for writes, removes in (({path: b"x"}, ()), ({}, (path,))):
        with pytest.raises(UsageError, match="no path of a port"):
            journal.publish(port, writes, removes)
    assert snapshot(port) == before


def test_nothing_is_written_through_a_link(port: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (port / "link").symlink_to(tmp_path / "outside")
    (port / "folder").mkdir()
    before = snapshot(port)
    for path in ("link/x", "port.yaml/x", "folder"):
        with pytest.raises(UsageError, match="cannot be published"):
            journal.publish(port, {"aa": b"", path: b"x"})
    assert snapshot(port) == before
    assert not list((tmp_path / "outside").iterdir())


def good() -> dict[str, object]:
    return {"schema": "calaudit-journal/v1", "writes": [], "removes": []}


@pytest.mark.parametrize(
    "document",
    [
        "{",
        "[]",
        json.dumps({**good(), "schema": "calaudit-journal/v2"}),
        json.dumps({**good(), "removes": ["../outside"]}),
        json.dumps({**good(), "removes": [1]}),
        json.dumps({**good(), "writes": {}}),
        json.dumps({**good(), "writes": [{"path": "x"}]}),
        json.dumps({**good(), "writes": [{"path": "../x", "staged": "0", "sha256": "0" * 64}]}),
        json.dumps({**good(), "writes": [{"path": "x", "staged": "../port.yaml", "sha256": "0" * 64}]}),
        json.dumps({**good(), "writes": [{"path": "x", "staged": "0", "sha256": "0" * 64}]}),
        json.dumps({**good(), "writes": [{"path": "x", "staged": "1", "sha256": "0" * 64}]}),
        '{"schema": "calaudit-journal/v1", "writes": [], "removes": [], "removes": ["port.yaml"]}',
    ],
)
def test_a_journal_that_came_with_the_port_is_doubted(port: Path, document: str) -> None:
    write(port, {".calaudit/commit.json": document, ".calaudit/0": "zero"})
    before = snapshot(port)
    with pytest.raises(UsageError, match="damaged"):
        journal.recover(port)
    assert snapshot(port) == before


def test_a_journal_that_is_none(port: Path, tmp_path: Path) -> None:
    (port / ".calaudit").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="damaged"):
        journal.recover(port)
    (port / ".calaudit").unlink()
    write(port, {".calaudit/sub/x": ""})
    with pytest.raises(UsageError, match="damaged"):
        journal.recover(port)


def test_one_run_at_a_time(port: Path) -> None:
    with locked(port), pytest.raises(UsageError, match="Another calaudit run"), locked(port):
        pass
    with locked(port):
        pass
    assert texts(port) == BEFORE


def test_what_is_published_is_what_was_examined(port: Path, tmp_path: Path) -> None:
    write(tmp_path, {"made": "swapped"})
    made = hashlib.sha256(b"made").hexdigest()
    with pytest.raises(journal.Swapped, match=r"c/made\.txt was changed after it was examined"):
        journal.publish(port, {"a/old.txt": b"new", "c/made.txt": tmp_path / "made"}, digests={"c/made.txt": made})
    assert texts(port) == BEFORE
    assert not journal.pending(port)
    write(tmp_path, {"made": "made"})
    journal.publish(port, {"c/made.txt": tmp_path / "made"}, digests={"c/made.txt": made})
    assert texts(port)["c/made.txt"] == "made"
