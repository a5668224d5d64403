"""Trust directories as they are read."""

import os
from pathlib import Path

import pytest

from calaudit.errors import UsageError
from calaudit.pins import inside_port, load_directory
from calaudit.trust.tuf_file import SIZE_MAX
from tests.sign.make import keepers


def test_what_a_directory_holds(tmp_path: Path) -> None:
    made = keepers(tmp_path, owned=())
    source = load_directory(made.path)
    assert source.roots == (("1.root.json", (made.path / "1.root.json").read_bytes()),)
    assert source.registry == (made.path / "roles.json").read_bytes()
    assert (source.sigstore_root, source.seen, source.origin) == (None, None, str(made.path))
    (made.path / "sigstore").mkdir()
    (made.path / "sigstore/trusted_root.json").write_bytes(b"{}")
    (made.path / "roles.json").unlink()
    source = load_directory(made.path)
    assert (source.registry, source.sigstore_root) == (None, b"{}")


def test_roots_are_in_the_order_of_their_versions_without_a_gap(tmp_path: Path) -> None:
    for version in (1, 2, 10, 9, 3, 4, 5, 6, 7, 8):
        (tmp_path / f"{version}.root.json").write_bytes(str(version).encode())
    for other in ("01.root.json", "0.root.json", "x.root.json", "1.root.json.bak", "root.json"):
        (tmp_path / other).write_bytes(b"x")
    assert [data for _, data in load_directory(tmp_path).roots] == [str(n).encode() for n in range(1, 11)]
    (tmp_path / "5.root.json").unlink()
    with pytest.raises(UsageError, match=r"lacks 5\.root\.json"):
        load_directory(tmp_path)


def test_what_is_no_trust_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_directory(tmp_path / "absent")
    with pytest.raises(UsageError, match="no trust directory"):
        load_directory(tmp_path)
    (tmp_path / "pending").mkdir()
    with pytest.raises(UsageError, match="lacks signatures"):
        load_directory(tmp_path)
    os.mkfifo(tmp_path / "1.root.json")
    with pytest.raises(UsageError, match="not a regular file"):
        load_directory(tmp_path)
    (tmp_path / "1.root.json").unlink()
    with (tmp_path / "1.root.json").open("wb") as file:
        file.truncate(SIZE_MAX + 1)
    with pytest.raises(UsageError, match="more than"):
        load_directory(tmp_path)


def test_a_port_cannot_vouch_for_itself(tmp_path: Path) -> None:
    port = tmp_path / "port"
    made = keepers(port / "deep", owned=())
    (port / "port.yaml").write_text("x")
    with pytest.raises(UsageError, match="vouch for itself"):
        load_directory(made.path)
    (tmp_path / "link").symlink_to(made.path)
    with pytest.raises(UsageError, match="vouch for itself"):
        load_directory(tmp_path / "link")
    assert inside_port(port) == port.resolve()
    assert inside_port(tmp_path) is None
