"""The definitions that a vendor vets documents with: up to date, complete, and as their README says."""

import re
import runpy
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from calaudit.cue import Cue
from tests.cue.conftest import ROOT

DEFINITIONS = ROOT / "policies" / "cue"
README = (DEFINITIONS / "README.md").read_text()


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "cue_definitions.py"))


def test_they_are_what_the_schemas_say_today(script: dict[str, Any], cue: Cue) -> None:
    made = {name: script["laid_out"](text, str(cue.path)) for name, text in script["files"]()}
    found = {path.name: path.read_text() for path in DEFINITIONS.glob("*.cue")}
    assert found == made, "run `python scripts/cue_definitions.py`"


def test_they_compile(cue: Cue, tmp_path: Path) -> None:
    files = sorted(DEFINITIONS.glob("*.cue"))
    subprocess.run([cue.path, "vet", "-c=false", *files], cwd=tmp_path, env={"HOME": str(tmp_path)}, check=True)


def test_a_keyword_that_the_script_does_not_know_stops_it(script: dict[str, Any]) -> None:
    writer = script["Writer"]({})
    open_object = {"type": "object", "properties": {}, "required": []}
    for node in (
        open_object,
        {"$ref": "#/$defs/path", "maxLength": 3},
        {"oneOf": [{}]},
        {"type": "string", "format": "email"},
    ):
        with pytest.raises((script["Unknown"], KeyError)):
            writer.expression(node, 0)


def test_the_readme_names_every_definition(script: dict[str, Any]) -> None:
    named = re.findall(r"\| `#(\w+)` \|", README)
    assert named == [script["camel"](name) for name in script["DOCUMENTS"]]


def test_the_commands_of_the_readme(cue: Cue, tmp_path: Path) -> None:
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    ran = 0
    for block in blocks:
        for line, after in re.findall(r"^\$ (.*)\n((?:(?!\$).*\n)*)", block, re.MULTILINE):
            words = [str(cue.path) if word == "cue" else word for word in shlex.split(line)]
            at = words.index("policies/cue/*.cue")
            words[at : at + 1] = sorted(f"policies/cue/{path.name}" for path in DEFINITIONS.glob("*.cue"))
            done = subprocess.run(
                words, cwd=ROOT, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (1 if after else 0, after), line
            ran += 1
    assert ran == 5
