"""What every format promises."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from calaudit.model import Report
from calaudit.report import Options, formats, renderer
from calaudit.report._escape import INVISIBLE
from tests.report.nasty import reports
from tests.report.samples import SAMPLES

NAMES = ["github", "json", "junit", "markdown", "sarif", "text"]


def test_formats_are_discovered() -> None:
    assert list(formats()) == NAMES


def test_unknown_format() -> None:
    with pytest.raises(KeyError):
        renderer("html")


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_report_gives_the_same_text(name: str, sample: str) -> None:
    first, second = (renderer(name)(SAMPLES[sample]()) for _ in range(2))
    assert first == second
    assert first.endswith("\n")
    assert not first.endswith("\n\n")


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(report=reports())
def test_nothing_invisible_comes_through(name: str, report: Report) -> None:
    out = renderer(name)(report, Options(root="ports/a"))
    assert INVISIBLE.sub("", out.replace("\n", "").replace("⚠️", "")) == out.replace("\n", "").replace("⚠️", "")
    out.encode()


@pytest.mark.parametrize("name", ["text", "github", "markdown"])
@settings(max_examples=60, deadline=None)
@given(report=reports())
def test_no_line_of_a_log_is_a_command(name: str, report: Report) -> None:
    for line in renderer(name)(report).splitlines():
        if name == "github":
            assert re.match(r"::(error|warning|notice) [^:]*title=[^:]*::", line)
        elif name == "text":
            assert not line.lstrip().startswith("::")
            assert not re.search(r"##\w*\[", line)


def test_renderers_import_nothing_but_the_nouns() -> None:
    folder = Path(__file__).parents[2] / "calaudit/report"
    for path in folder.glob("*.py"):
        for module in re.findall(r"^\s*(?:from|import) (calaudit[\w.]*)", path.read_text(), re.MULTILINE):
            assert module == "calaudit.model" or module.startswith("calaudit.report"), f"{path.name} imports {module}"
