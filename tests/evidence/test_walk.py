import os
import socket
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.evidence.found import identity
from calaudit.evidence.names import fold, survey
from calaudit.evidence.walk import MAX_FOLDERS
from calaudit.model import Kind
from tests.evidence.make import brief, collect, walked, write


def test_files_of_every_kind_are_listed_and_nothing_is_skipped(tmp_path):
    names = [".git/config", ".hidden", "a/b/c.pyc", "x~", "y.link", "a/empty"]
    write(tmp_path, dict.fromkeys(names, b"x"))
    (tmp_path / "empty-folder").mkdir()
    seen = walked(tmp_path)
    assert sorted(f.path for f in seen.files) == sorted(names)
    assert seen.folders == {".git", "a", "a/b", "empty-folder"}
    assert seen.problems == []


@pytest.mark.parametrize("name", ["plain.txt", "odd é.txt"])
def test_a_file_is_found_with_what_lstat_says(tmp_path, name):
    path = write(tmp_path, {f"d/{name}": b"four"}) / "d" / name
    os.utime(path, ns=(1, 1_600_000_000_123_456_789))
    [found] = walked(tmp_path).files
    status = path.lstat()
    assert found.size == 4
    assert (found.inode, found.device) == (status.st_ino, status.st_dev)
    assert (found.mtime_ns, found.ctime_ns) == (1_600_000_000_123_456_789, status.st_ctime_ns)
    assert found[2:] == identity(status)


def test_links_are_problems_wherever_they_point(tmp_path):
    write(tmp_path, {"d/f": b"x"})
    for name, target in {
        "loop": "loop",
        "up": "..",
        "dir": "d",
        "file": "d/f",
        "out": "/etc/passwd",
        "no": "no-such",
    }.items():
        (tmp_path / name).symlink_to(target)
    seen = walked(tmp_path)
    assert brief(seen.problems) == [("symlink", n) for n in ("dir", "file", "loop", "no", "out", "up")]
    assert [f.path for f in seen.files] == ["d/f"]


def test_special_files_are_never_opened(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    here = Path.cwd()
    os.chdir(tmp_path)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
    finally:
        os.chdir(here)
    kinds = ["fifo", "socket"]
    if os.geteuid() == 0:
        os.mknod(tmp_path / "device", 0o666 | 0o020000, os.makedev(1, 5))
        kinds.insert(0, "device")
    evidence = collect(tmp_path)
    assert brief(evidence.problems) == [("special-file", k) for k in kinds]
    assert not evidence.entries


def test_a_hard_link_is_a_problem_and_is_read(tmp_path):
    write(tmp_path, {"a": b"x"})
    os.link(tmp_path / "a", tmp_path / "b")
    evidence = collect(tmp_path)
    assert brief(evidence.problems) == [("hard-link", "a"), ("hard-link", "b")]
    assert set(evidence.entries) == {"a", "b"}


def test_names_that_differ_in_case_collide_also_among_folders(tmp_path):
    write(tmp_path, {"Read.txt": b"1", "read.TXT": b"2", "Dir/x": b"3", "dir/y": b"4", "straße": b"5", "STRASSE": b"6"})
    evidence = collect(tmp_path)
    expected = ["Dir", "Read.txt", "STRASSE", "dir", "read.TXT", "straße"]
    assert brief(evidence.problems) == [("name-collision", p) for p in expected]
    assert len(evidence.entries) == 6


def test_two_spellings_of_one_path_are_not_read(tmp_path):
    name = "é.txt"
    for form in ("NFC", "NFD"):
        (tmp_path / unicodedata.normalize(form, name)).write_text(form)
        folder = tmp_path / unicodedata.normalize(form, "ö")
        folder.mkdir()
        (folder / "inside").write_text("x")
    evidence = collect(tmp_path)
    assert brief(evidence.problems) == [("name-collision", "é.txt")] * 2 + [("name-collision", "ö")] * 2
    assert not evidence.entries


def test_a_path_is_shown_in_nfc(tmp_path):
    (tmp_path / unicodedata.normalize("NFD", "é")).mkdir()
    write(tmp_path, {unicodedata.normalize("NFD", "é/ü.txt"): b"x"})
    evidence = collect(tmp_path)
    assert list(evidence.entries) == [unicodedata.normalize("NFC", "é/ü.txt")]
    assert not evidence.problems


def test_a_name_that_is_not_utf8_is_shown_with_escapes(tmp_path):
    (tmp_path / os.fsdecode(b"dir\xe9")).mkdir()
    (tmp_path / os.fsdecode(b"\xff.txt")).touch()
    evidence = collect(tmp_path)
    assert brief(evidence.problems) == [("name-not-utf8", "\\xff.txt"), ("name-not-utf8", "dir\\xe9")]
    assert not evidence.entries


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "\x1b[31m", "a\x7f", "a\u202eb", "a\u2028b", "a\u2066b"])
def test_names_that_steer_are_problems(tmp_path, name):
    evidence = collect(tmp_path, {name: b"x"})
    assert brief(evidence.problems) == [("control-character", name)]
    assert "\x1b" not in evidence.problems[0].message
    assert name in evidence.entries


def test_a_deep_tree_ends_with_a_problem(tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(MAX_FOLDERS + 100):
        os.mkdir("d", dir_fd=fd)
        child = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = child
    os.close(fd)
    seen = walked(tmp_path)
    assert [(p.rule, p.kind) for p in seen.problems] == [("file-unreadable", Kind.OPEN)]
    assert seen.problems[0].location.path.count("/") == MAX_FOLDERS - 1


def test_the_deepest_allowed_file_is_read(tmp_path):
    path = "/".join(["d"] * (MAX_FOLDERS - 1)) + "/f.txt"
    assert list(collect(tmp_path, {path: b"x"}).entries) == [path]


def test_what_cannot_be_read_is_open(public_path, unprivileged):
    write(public_path, {"shut.json": b"{}", "shut.bin": b"x", "folder/x": b"y"})
    for name in ("shut.json", "shut.bin", "folder"):
        (public_path / name).chmod(0)
    with unprivileged():
        evidence = collect(public_path)
    (public_path / "folder").chmod(0o700)
    assert brief(evidence.problems) == [("file-unreadable", p) for p in ("folder", "shut.bin", "shut.json")]
    assert {p.kind for p in evidence.problems} == {Kind.OPEN}
    assert evidence.has_gate("G1")


def test_a_huge_folder_is_listed(tmp_path):
    for n in range(5000):
        os.close(os.open(tmp_path / f"{n}.bin", os.O_CREAT))
    assert len(collect(tmp_path).of_gate("G3")) == 5000


NAMES = st.lists(
    st.text(st.sampled_from("aAbBßẞéÉ\u0301\u212a k\n\u017fsS"), min_size=1, max_size=4), unique=True, max_size=6
)


@given(NAMES)
def test_a_name_is_reported_exactly_when_another_folds_to_the_same(names):
    collided = {f.name for f in survey(names).faults if f.rule == "name-collision"}
    expected = {unicodedata.normalize("NFC", n) for n in names if any(n is not m and fold(n) == fold(m) for m in names)}
    assert collided == expected


@given(NAMES)
def test_no_two_names_are_shown_alike(names):
    found = survey(names)
    shown = list(names) if found.plain else list(found.shown.values())
    assert len(set(shown)) == len(shown)
