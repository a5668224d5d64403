"""Toolchains: where they are, and what their digest covers."""

from pathlib import Path

import pytest

from calaudit.errors import UsageError
from calaudit.execute import toolchain_names, toolchains
from calaudit.execute.nouns import Toolchain
from tests.execute.small import write

NAME = "tools-1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "chain"
    write(made, {"bin/tool": "tool", "lib/numpy-2.4.6.dist-info/METADATA": "", "lib/a.py": "a"})
    (made / "bin" / "alias").symlink_to("tool")
    return made


def resolve(*folders: Path, cache: Path | None = None) -> Toolchain:
    return toolchains.resolve(NAME, {NAME: folders}, port=folders[0].parent / "port", cache=cache)


def test_a_toolchain(folder: Path) -> None:
    found = resolve(folder)
    assert found.programs == (folder / "bin",)
    assert found.versions == {"numpy": "2.4.6"}
    assert found.digest == resolve(folder).digest


def test_the_digest_is_of_the_content_not_of_the_place(folder: Path) -> None:
    before = resolve(folder).digest
    folder.rename(folder.with_name("moved"))
    assert resolve(folder.with_name("moved")).digest == before


def test_everything_changes_the_digest(folder: Path) -> None:
    seen = {resolve(folder).digest}

    def changed() -> None:
        digest = resolve(folder).digest
        assert digest not in seen
        seen.add(digest)

    (folder / "bin" / "tool").write_text("tooL")
    changed()
    (folder / "lib" / ".hidden").touch()
    changed()
    (folder / "bin" / "alias").unlink()
    changed()
    (folder / "bin" / "alias").symlink_to("./tool")
    changed()
    (folder / "bin" / "alias").unlink()
    (folder / "bin" / "alias").write_text("./tool")
    changed()
    (folder / "bin" / "tool").rename(folder / "bin" / "other")
    changed()


def test_caches_of_interpreters_do_not(folder: Path) -> None:
    before = resolve(folder).digest
    write(folder, {"lib/__pycache__/a.cpython-311.pyc": "x"})
    assert resolve(folder).digest == before


def test_a_link_that_leads_out_is_refused_unless_its_target_is_covered(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, {"prefix/bin/python3": "python"})
    (folder / "bin" / "python").symlink_to(tmp_path / "prefix" / "bin" / "python3")
    with pytest.raises(UsageError, match=r"leads to .*prefix/bin/python3, outside the toolchain"):
        resolve(folder)
    found = resolve(folder, tmp_path / "prefix")
    assert found.programs == (folder / "bin", tmp_path / "prefix" / "bin")
    (tmp_path / "prefix" / "bin" / "python3").write_text("another python")
    assert resolve(folder, tmp_path / "prefix").digest != found.digest
    (folder / "bin" / "sh").symlink_to("/usr/bin/sh")
    resolve(folder, tmp_path / "prefix")
    (folder / "bin" / "up").symlink_to("../../chain-2/x")
    with pytest.raises(UsageError, match="outside the toolchain"):
        resolve(folder, tmp_path / "prefix")


def test_the_cache_is_used_and_is_not_believed_when_a_file_changed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    first = resolve(folder, cache=cache).digest
    with monkeypatch.context() as patch:
        patch.setattr(toolchains, "digest_all", None)
        assert resolve(folder, cache=cache).digest == first
    (folder / "lib" / "a.py").write_text("b")
    assert resolve(folder, cache=cache).digest == resolve(folder).digest != first
    (cache / f"{NAME}.json").write_text("[]")
    assert resolve(folder, cache=cache).digest != first


def test_where_toolchains_are_named(folder: Path, tmp_path: Path) -> None:
    assert toolchain_names.configured() == {}
    path = toolchain_names.config_file()
    write(path.parent, {path.name: f"schema: calaudit-toolchains/v1\ntoolchains:\n  {NAME}: [{folder}, /usr/lib]\n"})
    assert toolchain_names.configured() == {NAME: (folder, Path("/usr/lib"))}
    assert toolchain_names.parse_option(f"{NAME}=a:b") == (NAME, (Path("a"), Path("b")))
    with pytest.raises(UsageError, match=r"Nobody says where the toolchain tools-1 is. Say --toolchain tools-1=DIR"):
        toolchains.resolve(NAME, {}, port=tmp_path)


@pytest.mark.parametrize("text", ["x", "=a", "x=", "X=a", "a b=c"])
def test_options_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="expected NAME=DIR"):
        toolchain_names.parse_option(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "toolchains.yaml:2: Not YAML"),
        ("[]", "expected the members"),
        ("{schema: calaudit-toolchains/v2, toolchains: {}}", "expected the members"),
        ("{schema: calaudit-toolchains/v1, toolchains: {}, more: 1}", "expected the members"),
        ("{schema: calaudit-toolchains/v1, toolchains: []}", "maps names"),
        ("{schema: calaudit-toolchains/v1, toolchains: {a: []}}", "expected a slug"),
        ("{schema: calaudit-toolchains/v1, toolchains: {a: [relative]}}", "expected a slug"),
        ("{schema: calaudit-toolchains/v1, toolchains: {A: [/x]}}", "expected a slug"),
        ("{schema: calaudit-toolchains/v1, toolchains: {a: [/x], a: [/y]}}", "toolchains.yaml:1"),
        ("schema: calaudit-toolchains/v1\ntoolchains:\n  a: [/x]\n" + "#" * (1 << 20), "more than 1 MiB"),
    ],
)
def test_files_that_are_faulty(text: str, told: str) -> None:
    path = toolchain_names.config_file()
    write(path.parent, {path.name: text})
    with pytest.raises(UsageError, match=told):
        toolchain_names.configured()


def test_a_toolchain_is_not_in_the_port_nor_around_it(folder: Path) -> None:
    for port in (folder, folder.parent, folder / "lib"):
        with pytest.raises(UsageError, match="lie in each other"):
            toolchains.resolve(NAME, {NAME: (folder,)}, port=port)
    with pytest.raises(UsageError, match="is no folder"):
        resolve(folder / "none")
