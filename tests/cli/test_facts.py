"""``calaudit facts``: one JSON document, and on standard error what is missing from it."""

import json
from dataclasses import dataclass
from typing import ClassVar

import jsonschema
import pytest
from click.testing import CliRunner

from calaudit.cli import cli
from calaudit.errors import MissingFact
from calaudit.facts import document as module
from calaudit.facts.schema import facts_schema
from calaudit.model import Location
from tests.casebook import PORT as EXAMPLE

PORT = """\
schema: calaudit-port/v1
id: some-port
profile: example
stage: development
claim: G0
"""


def run(*args):
    result = CliRunner().invoke(cli, ["facts", *map(str, args)])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def port(tmp_path):
    (tmp_path / "port.yaml").write_text(PORT)
    return tmp_path


def test_the_document_follows_the_schema(port):
    code, out, err = run(port)
    assert code == 0
    document = json.loads(out)
    assert document["port"]["id"] == "some-port"
    assert list(document) == sorted(document)
    code, out, _ = run("--schema")
    assert code == 0
    jsonschema.validate(document, json.loads(out))
    assert "facts.prompts is missing: " in err


def test_the_example_follows_the_schema():
    code, out, _ = run(EXAMPLE)
    assert code == 0
    jsonschema.validate(json.loads(out), facts_schema())
    assert json.loads(out)["complexity"]["total"] == 0


def test_a_port_without_files_has_few_facts(tmp_path):
    (tmp_path / "00-source").mkdir()
    code, out, err = run(tmp_path)
    assert code == 0
    assert "port" not in json.loads(out)
    assert "facts.port is missing: " in err


def test_no_folder_is_a_usage_error(tmp_path):
    code, out, err = run(tmp_path / "absent")
    assert (code, out) == (2, "")
    assert "is not a directory" in err


def test_nothing_leaves_unescaped(port, monkeypatch):
    @dataclass(frozen=True)
    class Odd:
        name: ClassVar[str] = "odd"
        text: str
        ratio: float
        ratios: tuple[float, ...]

        @classmethod
        def derive(cls, _):
            return cls("\x1b[2J\x7f\x9b\u202e\ud800é", float("nan"), (1.0, float("inf")))

    @dataclass(frozen=True)
    class Absent:
        name: ClassVar[str] = "absent"

        @classmethod
        def derive(cls, _):
            raise MissingFact("no \x1b[31mred", at=Location(path="a\nb"))

    monkeypatch.setattr(module, "discover_facts", lambda: (Absent, Odd))
    code, out, err = run(port)
    assert code == 0
    assert all(" " <= char <= "~" or char == "\n" for char in out)
    assert json.loads(out) == {"odd": {"ratio": None, "ratios": [1.0, None], "text": "\x1b[2J\x7f\x9b\u202e\ud800é"}}
    assert err.splitlines() == [
        "facts.absent is missing: no \\x1b[31mred (a\\nb)",
        "facts.odd.ratio is not a finite number",
        "facts.odd.ratios[1] is not a finite number",
    ]
