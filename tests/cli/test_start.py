"""Starting: what is imported, what the help says, that the table of verbs is true; and whole processes."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner

from calaudit.cli import VERBS, cli
from calaudit.report._layout import cells
from calaudit.version import VERSION

ROOT = Path(__file__).parents[2]
HEAVY = {
    *("onnx", "numpy", "sigstore", "cyclonedx", "in_toto", "rich", "jsonschema", "asyncio", "yaml", "orjson"),
    *("jsonschema_rs", "cel_expr_python", "tokenizers", "onnxruntime", "securesystemslib", "importlib.metadata"),
}


def imported(code: str) -> set[str]:
    told = f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True, cwd=ROOT)
    return set(done.stderr.split())


def test_importing_calaudit_is_light() -> None:
    assert not imported("import calaudit") & HEAVY
    assert not imported("from calaudit import Report, Result, Verdict") & HEAVY


def test_help_imports_click_and_no_verb() -> None:
    code = "import calaudit.cli\ntry: calaudit.cli.cli.main(['--help'])\nexcept SystemExit as e: assert e.code == 0"
    found = imported(code)
    assert not found & HEAVY
    ours = {name for name in found if name.split(".")[0] == "calaudit"}
    assert ours == {"calaudit", "calaudit.cli", "calaudit.garbage", "calaudit.version"}


PORT = "examples/model-port/tiny-dense"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("arguments", "code"), [(f"verify {PORT}", 3), ("verify nowhere", 2), ("schema list", 0)])
def test_closed_streams(closed: str, arguments: str, code: int, tmp_path: Path) -> None:
    """The exit code is what it would be, and no file that is opened meanwhile is taken for a closed stream."""
    state = os.environ | {"CALAUDIT_STATE_DIR": str(tmp_path)}
    told = f"exec {shlex.quote(sys.executable)} -m calaudit {arguments} {closed}"
    done = subprocess.run(["sh", "-c", told], check=False, capture_output=True, text=True, cwd=ROOT, env=state)
    assert done.returncode == code
    assert "rror" not in done.stderr
    assert ("port tiny-dense" in done.stdout) == (code == 3 and closed == "2>&-")


@pytest.mark.parametrize("command", [[sys.executable, "-m", "calaudit"]])
def test_module_runs(command: list[str]) -> None:
    done = subprocess.run([*command, "--version"], check=True, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == f"calaudit {VERSION}\n"


def test_help_lists_every_verb() -> None:
    done = CliRunner().invoke(cli, ["--help"])
    assert done.exit_code == 0
    for verb, summary in VERBS.items():
        assert verb in done.stdout
        assert summary in " ".join(done.stdout.split())
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_every_module_is_a_verb() -> None:
    folder = ROOT / "calaudit/cli"
    assert {path.stem.replace("_", "-") for path in folder.glob("[a-z]*.py")} == set(VERBS)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_the_table_says_what_the_verb_says(verb: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    assert command.name == verb
    assert (command.help or "").strip().partition("\n")[0] == VERBS[verb]


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help(verb: str) -> None:
    done = CliRunner().invoke(cli, [verb, "--help"])
    assert done.exit_code == 0
    assert done.stdout.startswith("Usage: ")


@pytest.mark.parametrize(("typed", "said"), [("verfy", "Did you mean verify?"), ("zzz", "See --help.")])
def test_unknown_verb(typed: str, said: str) -> None:
    done = CliRunner().invoke(cli, [typed])
    assert done.exit_code == 2
    assert said in done.stderr


def test_no_verb_is_a_usage_error() -> None:
    assert CliRunner().invoke(cli, []).exit_code == 2


def test_output_whose_encoding_lacks_characters() -> None:
    code = "from calaudit.cli._shared import emit\nemit('✗ 参考\\n')\n"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == b"\\u2717 \\u53c2\\u8003\n"


def test_a_reader_that_goes_away() -> None:
    code = (
        "import calaudit.cli._shared as shared, calaudit.cli as cli\n"
        "from tests.report.samples import failed\n"
        "shared.audit = lambda *a, **k: failed()\n"
        "cli.main()\n"
    )
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", code, "verify", "-o", "json"],
        check=False,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def calaudit(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "calaudit", *args]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env=os.environ | environment)


EXAMPLE = "examples/model-port/tiny-dense"


def test_the_shipped_port_is_right_and_unsigned() -> None:
    done = calaudit("verify", EXAMPLE)
    assert (done.returncode, done.stderr) == (3, "")
    assert "Nothing is wrong, but" in done.stdout
    assert "waits for attested runs and signatures, and no trust root is pinned" in " ".join(done.stdout.split())
    assert all(cells(line) <= 80 for line in done.stdout.splitlines())


def test_the_report_of_the_shipped_port_follows_its_schema_and_is_the_same_twice(tmp_path: Path) -> None:
    first = calaudit("verify", EXAMPLE, "-o", "json", "-o", f"sarif={tmp_path}/a.sarif", "--jobs", "1")
    again = calaudit("verify", EXAMPLE, "-o", "json", "--quiet", PYTHONHASHSEED="7")
    assert first.stdout == again.stdout
    schema = json.loads((ROOT / "schemas/report/v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(first.stdout))
    sarif = json.loads((ROOT / "tests/fixtures/sarif/sarif-schema-2.1.0.json").read_text())
    jsonschema.Draft4Validator(sarif).validate(json.loads((tmp_path / "a.sarif").read_text()))
    assert str(ROOT) not in first.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["verify", EXAMPLE, "--through", "G11"], "There is no gate G11"),
        (["verify", "no/such/port"], "no/such/port"),
        (["status", "no/such/port"], "no/such/port"),
    ],
)
def test_usage_errors_of_the_audit(args: list[str], said: str) -> None:
    done = calaudit(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_progress_goes_to_a_terminal_on_standard_error() -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "calaudit", "verify", EXAMPLE, "-o", "json"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=theirs, cwd=ROOT)
    os.close(theirs)
    told = os.read(ours, 65536)
    os.close(ours)
    assert b"Judging G0" in told
    assert json.loads(done.stdout)["exit_code"] == done.returncode
