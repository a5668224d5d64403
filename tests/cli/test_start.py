"""Starting: what is imported, what the help says, and that the table of verbs is true."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from calaudit.cli import VERBS, cli
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
    assert ours == {"calaudit", "calaudit.cli", "calaudit.version"}


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
    assert {path.stem for path in folder.glob("[a-z]*.py")} == set(VERBS)


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
