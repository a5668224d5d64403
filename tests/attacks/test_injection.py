"""What an audited file says reaches no reader as a command: terminals, markup and workflow commands."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import onnx
import pytest

from calaudit.contract import Contract
from calaudit.model import Report
from calaudit.report import renderer
from tests.attacks import forge

EVIL = "\x1b[31mX\n::error title=pwn::pwned\r]]>&<script>alert(1)</script>|`**b**`\u202e\x07![x](http://e)"
FORMATS = ("text", "json", "sarif", "junit", "github", "markdown")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, contract: Contract) -> Report:
    def forge_all(port: Path) -> None:
        forge.edit(
            port / forge.MANIFEST,
            lambda m: (
                m.update(license=f"NOPE {EVIL}"),
                m["dependencies"].append({"name": EVIL, "license": "CC-BY-NC-4.0"}),
            ),
        )
        forge.edit(port / "00-source/hf-config/config.json", lambda c: c.update(hidden_act=EVIL))
        (port / "tools" / "a\n::error::pwn\x1b[31m`|<b>.py").write_text("x = 1\n")
        lock = port / "01-reference/environment.lock"
        lock.write_text(lock.read_text() + "x>1 <script> ::error::a | ` ]]>\n")
        model = onnx.load_model(str(port / "02-onnx/model.onnx"), load_external_data=False)
        model.graph.node.append(onnx.helper.make_node("Identity", [EVIL], ["evil"]))
        (port / "02-onnx/model.onnx").write_bytes(model.SerializeToString())

    return forge.judge(tmp_path_factory.mktemp("injection"), contract, forge_all)


def render(report: Report, form: str) -> str:
    return renderer(form)(report)


@pytest.mark.parametrize("form", FORMATS)
def test_no_control_character_reaches_a_report(report: Report, form: str) -> None:
    text = render(report, form)
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(text)
    assert "pwned" in text


def test_reports_stay_what_they_are(report: Report) -> None:
    ET.fromstring(render(report, "junit"))  # noqa: S314 - our own output
    json.loads(render(report, "json"))
    json.loads(render(report, "sarif"))


def test_no_line_is_a_workflow_command_of_the_forger(report: Report) -> None:
    for form in ("text", "github"):
        assert not [line for line in render(report, form).splitlines() if "title=pwn" in line.partition("::")[2][:30]]


def test_no_markup_of_the_forger_is_left(report: Report) -> None:
    assert "<script>" not in render(report, "markdown")
    assert "<script>" not in render(report, "junit")
