"""``calaudit init`` as a command: what it tells, and that every refusal is a sentence with exit code 2."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from calaudit.cli import cli

FIXTURES = Path(__file__).parent.parent / "fixtures" / "hf-configs"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(FIXTURES / "llama3-v4.json", folder / "config.json")
    return folder


def refuse(tmp_path: Path, *args: str) -> str:
    before = sorted(tmp_path.rglob("*"))
    result = CliRunner().invoke(cli, ["init", *args])
    assert result.exit_code == 2, result.output
    assert sorted(tmp_path.rglob("*")) == before
    assert "Traceback" not in result.output
    return result.output


def test_a_directory_with_files_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "port").mkdir()
    (tmp_path / "port/x").touch()
    assert "is not empty" in refuse(tmp_path, str(tmp_path / "port"), "--from-hf", str(model))


def test_a_file_and_a_link_are_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for name in ("file", "link"):
        assert "is not a directory" in refuse(tmp_path, str(tmp_path / name), "--from-hf", str(model))


def test_a_file_in_the_path_is_named(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refuse(tmp_path, str(tmp_path / "file/a/port"), "--from-hf", str(model))
    assert "file is a file, so" in " ".join(said.split())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file"),
        (b"", "is not strict JSON"),
        (b"[]", "holds no JSON object"),
        (b"{}", "holds no JSON object"),
        (b'{"a": 1}', "not the config of a language model"),
        (b'{"model_type": "llama", "model_type": "mamba"}', "is not strict JSON"),
        (b'{"model_type": "mamba2", "time_step_limit": [0.0, Infinity]}', "is not strict JSON on line 1"),
        (b"\xff\xfe{}", "is not strict JSON"),
        (b"[" * 2000, "is not strict JSON"),
    ],
)
def test_a_config_that_is_none_is_refused(content: bytes | None, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    if content is not None:
        (tmp_path / "model/config.json").write_bytes(content)
    assert sentence in refuse(tmp_path, str(tmp_path / "port"), "--from-hf", str(tmp_path / "model"))


def test_a_config_directory_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "is not a directory" in refuse(tmp_path, str(tmp_path / "port"), "--from-hf", str(tmp_path / "no"))


def test_an_unknown_profile_and_an_odd_id_are_refused(model: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "port")
    assert "There is no profile" in refuse(tmp_path, target, "--from-hf", str(model), "--profile", "big")
    assert "cannot be the id" in refuse(tmp_path, target, "--from-hf", str(model), "--id", "a b")
    assert "Choose one with --id" in refuse(tmp_path, str(tmp_path / "a b"), "--from-hf", str(model))


def test_what_it_tells(model: Path, tmp_path: Path) -> None:
    (model / "tokenizer_config.json").write_text('{"model_max_length": Infinity}', "utf-8")
    result = CliRunner().invoke(cli, ["init", str(tmp_path / "port"), "--from-hf", str(model)])
    assert result.exit_code == 0, result.output
    for part in (
        "type llama, 32 layers",
        "architecture: 0.",
        "attention: 0 or more",
        "calaudit verify",
        "which the rule placeholder-left lists",
        "vendor/kickoff.json: vendor",
        "tokenizer_config.json",
    ):
        assert part in result.output


def test_the_hubs_huge_integer_is_no_matter(model: Path, tmp_path: Path) -> None:
    (model / "tokenizer_config.json").write_text('{"model_max_length": 1000000000000000019884624838656}', "utf-8")
    result = CliRunner().invoke(cli, ["init", str(tmp_path / "port"), "--from-hf", str(model)])
    assert result.exit_code == 0
    assert "not strict JSON" not in result.output


def test_terminal_escapes_of_a_config_stay_visible(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text(
        json.dumps({"model_type": "\x1b[2Jevil\n", "num_hidden_layers": 1}), "utf-8"
    )
    result = CliRunner().invoke(cli, ["init", str(tmp_path / "port"), "--from-hf", str(tmp_path / "model")])
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert r"\x1b[2Jevil\n" in result.output
