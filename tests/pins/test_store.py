"""The pin: what was accepted once stays, and versions only go up."""

from dataclasses import replace
from pathlib import Path

import pytest

from calaudit.errors import UsageError
from calaudit.pins import Pin, load_directory, load_pin, read_pin, record_seen, write_pin
from calaudit.pins.store import state_directory
from calaudit.trust.source import Seen
from tests.sign.make import Keepers, keepers

SEEN = Seen(root_version=1, registry_version=3, registry_sha256="ab" * 32, root_sha256="12" * 32)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def made(tmp_path: Path) -> Keepers:
    return keepers(tmp_path, owned=())


@pytest.fixture
def pin(made: Keepers) -> Pin:
    return Pin(anchor=load_directory(made.path).roots[0], source=made.path, seen=SEEN)


def test_nothing_is_pinned_at_first() -> None:
    assert (read_pin(), load_pin()) == (None, None)
    record_seen(SEEN)
    assert read_pin() is None


def test_a_pin_is_read_as_it_was_written_and_is_private(pin: Pin, state: Path) -> None:
    write_pin(pin)
    assert read_pin() == pin
    assert (state / "pin.json").stat().st_mode & 0o777 == 0o600
    assert state.stat().st_mode & 0o777 == 0o700
    source = load_pin()
    assert source is not None
    assert (source.roots, source.seen) == ((pin.anchor,), SEEN)


def test_the_pinned_root_counts_and_not_the_one_that_lies_there_now(pin: Pin, made: Keepers) -> None:
    write_pin(pin)
    (made.path / "1.root.json").write_bytes(b"another root")
    (made.path / "2.root.json").write_bytes(b"a later one")
    source = load_pin()
    assert source is not None
    assert source.roots == (pin.anchor, ("2.root.json", b"a later one"))


def test_a_directory_that_is_gone_leaves_the_root_alone(pin: Pin, made: Keepers) -> None:
    write_pin(pin)
    made.path.rename(made.path.with_name("elsewhere"))
    source = load_pin()
    assert source is not None
    assert (source.roots, source.registry) == ((pin.anchor,), None)
    assert "cannot be read" in source.origin


def test_another_root_needs_replace(pin: Pin) -> None:
    write_pin(pin)
    other = replace(pin, anchor=("1.root.json", b"other"))
    with pytest.raises(UsageError, match="Another root is pinned"):
        write_pin(other)
    assert read_pin() == pin
    write_pin(other, replace_anchor=True)
    assert read_pin() == other


@pytest.mark.parametrize(
    "seen",
    [
        replace(SEEN, root_version=0),
        replace(SEEN, registry_version=2),
        replace(SEEN, registry_sha256="cd" * 32),
        replace(SEEN, root_sha256="34" * 32),
        replace(SEEN, root_sha256=""),
    ],
)
def test_what_is_older_or_another_history_is_refused(pin: Pin, seen: Seen) -> None:
    write_pin(pin)
    with pytest.raises(UsageError, match="seen before"):
        write_pin(replace(pin, seen=seen))
    record_seen(seen)
    assert read_pin() == pin


def test_higher_versions_are_remembered(pin: Pin) -> None:
    write_pin(pin)
    newer = Seen(root_version=2, registry_version=4, registry_sha256="cd" * 32, root_sha256="34" * 32)
    record_seen(newer)
    assert read_pin() == replace(pin, seen=newer)
    record_seen(SEEN)
    assert read_pin() == replace(pin, seen=newer)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_pin_that_others_can_write_proves_nothing(pin: Pin, state: Path, mode: int) -> None:
    write_pin(pin)
    (state / "pin.json").chmod(mode)
    with pytest.raises(UsageError, match="proves nothing"):
        load_pin()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b"nothing",
        b'{"schema": "calaudit-pin/v1", "schema": "calaudit-pin/v1"}',
    ],
)
def test_a_damaged_pin_is_an_error_and_not_no_pin(pin: Pin, state: Path, text: bytes) -> None:
    write_pin(pin)
    (state / "pin.json").write_bytes(text)
    with pytest.raises(UsageError, match="damaged"):
        load_pin()


def test_members_of_other_types_are_damage(pin: Pin, state: Path) -> None:
    write_pin(pin)
    good = (state / "pin.json").read_text()
    for old, new in (
        ('"root_version": 1', '"root_version": true'),
        ('"registry_version": 3', '"registry_version": "3"'),
        ('"anchor_name": "1.root.json"', '"anchor_name": "../x"'),
        ('"anchor": "', '"anchor": "!'),
    ):
        assert old in good
        (state / "pin.json").write_text(good.replace(old, new))
        with pytest.raises(UsageError, match="damaged"):
            load_pin()


def test_a_state_directory_that_cannot_be_written(pin: Pin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot be"):
        write_pin(pin)


def test_the_state_directory_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CALAUDIT_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_directory() == tmp_path / "calaudit"
