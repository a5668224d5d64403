"""Which program is taken for cue."""

import shutil
from pathlib import Path

import pytest

from calaudit.cue import Cue, find, process, search
from calaudit.errors import UsageError


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CALAUDIT_CUE", raising=False)
    monkeypatch.setenv("PATH", "")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def place(cue: Cue, tmp_path: Path) -> Path:
    """A folder with the program."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(cue.path, folder / "cue")
    return folder


def test_there_is_none() -> None:
    assert find() is None


def test_what_it_is(cue: Cue, place: Path) -> None:
    found = find(place / "cue")
    assert found == Cue(place / "cue", cue.version, cue.sha256)
    assert len(cue.sha256) == 64


def test_the_order(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_identify", lambda path: path)
    names = [tmp_path / name for name in ("option", "variable")]
    for name in names:
        shutil.copy(place / "cue", name)
    monkeypatch.setenv("PATH", f"{tmp_path / 'nothing'}:{place}")
    assert find() == place / "cue"
    monkeypatch.setenv("CALAUDIT_CUE", str(names[1]))
    assert find() == names[1]
    assert find(names[0]) == names[0]
    monkeypatch.setenv("CALAUDIT_CUE", "")
    assert find() == place / "cue"


@pytest.mark.parametrize("kind", ["missing", "folder", "not executable"])
def test_a_name_that_is_wrong_is_no_reason_to_take_another(
    kind: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(place))
    path = tmp_path / "x"
    if kind == "folder":
        path.mkdir()
    elif kind == "not executable":
        path.write_bytes(b"\x7fELF")
        path.chmod(0o644)
    with pytest.raises(UsageError, match="--cue names"):
        find(path)
    monkeypatch.setenv("CALAUDIT_CUE", str(path))
    with pytest.raises(UsageError, match="CALAUDIT_CUE names"):
        find()
    monkeypatch.setenv("CALAUDIT_CUE", "x")
    with pytest.raises(UsageError, match="absolute"):
        find()


@pytest.mark.parametrize("path", ["", ".", ":", "bin", "HERE", ":HERE:."])
def test_the_current_directory_is_never_searched(path: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", path.replace("HERE", str(place)))
    assert find() is None


def test_the_port_is_never_searched(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    outside.symlink_to(place)
    for folder in (place, outside):
        monkeypatch.setenv("PATH", str(folder))
        assert find(port=place) is None
        with pytest.raises(UsageError, match="lies in the port"):
            find(folder / "cue", port=place)
        monkeypatch.setenv("CALAUDIT_CUE", str(folder / "cue"))
        with pytest.raises(UsageError, match="lies in the port"):
            find(port=place)
        monkeypatch.delenv("CALAUDIT_CUE")
    link = place / "link"
    link.symlink_to("/bin/true")
    with pytest.raises(UsageError, match="lies in the port"):
        find(link, port=place)


@pytest.mark.parametrize(
    ("content", "said"), [(b"#!/bin/sh\nexec cue\n", "not the cue program itself"), (b"", "empty"), (b"MZ", "itself")]
)
def test_a_script_is_not_the_program(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "cue"
    path.write_bytes(content)
    path.chmod(0o755)
    with pytest.raises(UsageError, match=said):
        find(path)


def test_another_program_is_not_cue() -> None:
    with pytest.raises(UsageError, match=r"does not (say its version|run)"):
        find(Path("/bin/true").resolve())
    with pytest.raises(UsageError, match="does not run"):
        find(Path("/bin/false").resolve())


@pytest.mark.parametrize(
    ("version", "fine"), [("v0.11.2", False), ("v0.12.1", True), ("v0.15.0-rc.1", True), ("v1.0.0", True)]
)
def test_an_old_cue_is_refused(version: str, fine: bool, cue: Cue, monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"cue version {version}\n\ncue.lang.version {version}\n".encode()
    outcome = process.Outcome(code=0, stdout=said, stderr=b"")
    monkeypatch.setattr(process, "run", lambda *_, **__: outcome)
    if fine:
        found = find(cue.path)
        assert found is not None
        assert found.version == version[1:]
    else:
        with pytest.raises(UsageError, match=r"0\.12 or newer"):
            find(cue.path)
