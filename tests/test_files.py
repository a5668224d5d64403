"""Files are replaced whole or not at all."""

import os
import stat

import pytest

from calaudit.files import write_atomic, write_output


def test_writes_a_new_file_and_replaces_an_old_one(tmp_path):
    path = tmp_path / "a.json"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_mode_follows_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a", b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_mode_can_be_narrower(tmp_path):
    write_atomic(tmp_path / "a", b"", mode=0o600)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_what_is_no_regular_file_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        write_atomic(tmp_path / "pipe", b"")
    assert (tmp_path / "pipe").is_fifo()


def test_output_goes_where_a_link_leads(tmp_path):
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "link").symlink_to("a")
    write_output(tmp_path / "link", b"two")
    write_output(tmp_path / "new", b"three")
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "new").read_bytes()) == (b"two", b"three")


def test_without_replace_an_old_file_stays(tmp_path):
    write_atomic(tmp_path / "a", b"one", replace=False)
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("a", "link"):
        with pytest.raises(FileExistsError):
            write_atomic(tmp_path / name, b"two", replace=False)
    assert (tmp_path / "a").read_bytes() == b"one"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "link"]


def test_a_link_is_replaced_and_its_target_left_alone(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    write_atomic(tmp_path / "link", b"new")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"old"


def test_a_failure_leaves_the_old_bytes_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write_atomic(path, b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_missing_directory_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "no" / "a", b"")
