"""``calaudit verify``, over reports made by hand."""

import fcntl
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.cli import cli
from calaudit.errors import ContractError, UsageError
from calaudit.model import Report
from tests.report.samples import SAMPLES

Run = Callable[..., Result]


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ports/tiny").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return tmp_path / "ports/tiny"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, port: Path) -> Run:
    """Run ``verify`` as if the audit had given a sample, or had raised."""

    def invoke(*args: str, sample: str = "failed", raises: Exception | None = None) -> Result:
        def audit(path: Path, **options: object) -> Report:
            if raises is not None:
                raise raises
            assert Path(path) in (Path("ports/tiny"), Path())
            return SAMPLES[sample]()

        monkeypatch.setattr("calaudit.cli._shared.audit", audit)
        return CliRunner().invoke(cli, ["verify", *args])

    return invoke


@pytest.mark.parametrize("sample", SAMPLES)
def test_exit_code_is_the_reports(run: Run, sample: str) -> None:
    done = run("ports/tiny", sample=sample)
    assert done.exit_code == SAMPLES[sample]().exit_code
    assert f"exit {done.exit_code}:" in done.stdout
    assert done.stderr == ""


def test_port_is_the_current_directory_by_default(run: Run) -> None:
    assert run().exit_code == 1


@pytest.mark.parametrize("name", ["text", "json", "sarif", "junit", "github", "markdown"])
def test_formats_on_stdout(run: Run, name: str) -> None:
    done = run("ports/tiny", "-o", name)
    assert done.exit_code == 1
    assert "greedy-mismatch" in done.stdout


def test_files_and_stdout(run: Run, tmp_path: Path) -> None:
    done = run("ports/tiny", "-o", "json=report.json", "-o", f"sarif={tmp_path}/report.sarif", "-o", "junit=-")
    assert done.exit_code == 1
    assert done.stdout.startswith("<?xml")
    assert json.loads((tmp_path / "report.json").read_text())["verdict"] == "FAILED"
    bases = json.loads((tmp_path / "report.sarif").read_text())["runs"][0]["originalUriBaseIds"]
    assert bases["PORT"]["uri"] == "ports/tiny/"


def test_marks_are_ascii_where_the_encoding_has_no_others(port: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calaudit.cli._shared.audit", lambda *_, **__: SAMPLES["changed"]())
    done = CliRunner(charset="ascii").invoke(cli, ["verify", "ports/tiny"])
    assert "  x G0.license-unknown" in done.stdout
    assert "\\u" not in done.stdout
    assert "\\x" not in done.stdout


def test_text_goes_to_stdout_besides_files(run: Run) -> None:
    assert run("ports/tiny", "-o", "json=report.json").stdout.startswith("calaudit ")


def test_quiet_writes_only_what_is_asked_for(run: Run, tmp_path: Path) -> None:
    done = run("ports/tiny", "--quiet", "-o", "json=report.json")
    assert (done.stdout, done.stderr, done.exit_code) == ("", "", 1)
    assert (tmp_path / "report.json").exists()
    assert run("ports/tiny", "--quiet", "-o", "json").stdout.startswith("{")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-o", "html"], "There is no format 'html'; formats are github, json, junit, markdown, sarif, text."),
        (["-o", "json", "-o", "sarif"], "Standard output takes one report, not json and sarif"),
        (["-o", "json="], "names no file"),
        (["-o", "json=nowhere/x.json"], "is no directory"),
        (["-o", "json=ports"], "is a directory"),
        (["-o", "json=a", "-o", "sarif=./a"], "cannot go to one file"),
        (["-o", "json=ports/tiny/report.json"], "would be a file of the port"),
        (["--jobs", "0"], "--jobs"),
        (["--no-such"], "No such option"),
    ],
)
def test_usage_errors(run: Run, args: list[str], said: str) -> None:
    done = run("ports/tiny", *args)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("There is no gate G11."), 2, "calaudit: There is no gate G11.\n"),
        (ContractError("gates.yaml: \x1b[31m bad"), 2, "calaudit: gates.yaml: \\x1b[31m bad\n"),
        (RuntimeError("boom"), 4, "calaudit: Internal error: RuntimeError: boom"),
        (KeyboardInterrupt(), 130, "Interrupted."),
    ],
)
def test_errors(run: Run, error: Exception, code: int, said: str) -> None:
    done = run("ports/tiny", raises=error)
    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_traceback_on_demand(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALAUDIT_DEBUG", "1")
    assert "Traceback" in run("ports/tiny", raises=RuntimeError("boom")).stderr


def test_a_file_that_cannot_be_written_is_whole_or_absent(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report.json").write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = run("ports/tiny", "-o", "json=report.json")
    assert done.exit_code == 2
    assert "No space left on device" in done.stderr
    assert (tmp_path / "report.json").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ports", "report.json"]


def test_a_file_is_replaced_and_not_written_into(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    before = target.stat().st_ino
    run("ports/tiny", "-o", "json=report.json")
    assert target.stat().st_ino != before
    assert json.loads(target.read_text())["exit_code"] == 1


def test_annotations_begin_at_the_top_of_the_checkout(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "file=ports/tiny/02-onnx/" in run("ports/tiny", "-o", "github").stdout
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "ports"))
    assert "file=tiny/02-onnx/" in run("ports/tiny", "-o", "github").stdout
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert "file=ports/tiny/02-onnx/" in run("ports/tiny", "-o", "github").stdout


def test_a_pipe_and_a_device_are_written_into(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
    try:
        assert run("ports/tiny", "-o", "json=pipe", "-o", f"sarif={os.devnull}").exit_code == 1
        assert json.loads(os.read(reader, 1 << 20))["exit_code"] == 1
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert Path(os.devnull).is_char_device()


def test_no_colour_into_a_pipe(run: Run) -> None:
    assert "\x1b" not in run("ports/tiny").stdout


@pytest.mark.parametrize(
    ("environment", "args", "coloured"),
    [
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": ""}, [], True),
        ({"TERM": "dumb"}, [], False),
        ({}, ["--no-color"], False),
        ({}, ["-o", "json"], False),
    ],
)
def test_colour_on_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], args: list[str], *, coloured: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    from calaudit.cli import _shared

    monkeypatch.setattr(_shared, "sys", _Terminal())
    assert ("\x1b[" in run("ports/tiny", *args).stdout) == coloured


class _Terminal:
    """``sys`` with an output that is a terminal and an error output that is none."""

    @property
    def stdout(self) -> object:
        stream = sys.stdout
        stream.isatty = lambda: True  # type: ignore[method-assign]
        return stream

    stderr = sys.stderr
