import re

import pytest
from hypothesis import given, settings

from calaudit.model import Kind, Location, Report, Verdict
from calaudit.report import Options, renderer
from calaudit.report._trust import headline
from tests.report import samples
from tests.report.nasty import reports
from tests.report.samples import SAMPLES

render = renderer("github")
COMMAND = re.compile(r"::(?P<command>error|warning|notice) (?P<properties>[^:]*)::(?P<data>.*)")


def parse(line: str) -> tuple[str, dict[str, str], str]:
    """Read a line as GitHub's runner does."""
    match = COMMAND.fullmatch(line)
    assert match, line
    pairs = (item.partition("=") for item in match["properties"].split(","))
    return match["command"], {name: unescape(value) for name, _, value in pairs}, unescape(match["data"])


def unescape(text: str) -> str:
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def one(**more: object) -> tuple[str, dict[str, str], str]:
    made = samples.result("common.symlink", "G1", Kind.FAIL, str(more.pop("message", "Said.")), **more)
    report = samples.report(Verdict.FAILED, 1, samples.gate("G1", made, verdict=Verdict.FAILED))
    return parse(render(report, Options(root="ports/a")).splitlines()[-1])


@pytest.mark.parametrize(
    ("sample", "command"),
    [
        ("passed", "notice"),
        ("unsigned", "warning"),
        ("blocked_compiler", "warning"),
        ("blocked_reproducibility", "error"),
        ("failed", "error"),
        ("crashed", "error"),
    ],
)
def test_the_verdict_comes_first(sample: str, command: str) -> None:
    report = SAMPLES[sample]()
    found, properties, _ = parse(render(report).splitlines()[0])
    assert (found, properties) == (command, {"title": f"calaudit: {headline(report)}"})


def test_a_finding_stands_at_its_line() -> None:
    command, properties, data = one(
        location=Location(path="a,b:c.json", line=7, pointer="/x"), expected="1", actual="2"
    )
    assert command == "error"
    assert properties == {"file": "ports/a/a,b:c.json", "line": "7", "title": "common.symlink (fail on G1)"}
    assert data == "Said. At: a,b:c.json:7#/x. Expected: 1. Actual: 2. Fix: Replace the link by the file."


def test_escapes() -> None:
    _, _, data = one(message="100%0A\n::error::x")
    assert data.startswith("100%0A\\n::error::x")


def test_levels() -> None:
    commands = [parse(line)[0] for line in render(SAMPLES["passed"]()).splitlines()]
    assert commands == ["notice", "notice", "notice"]  # neither a warning nor a note decides anything


def test_failures_come_first_and_what_is_open_is_a_warning() -> None:
    lines = [parse(line) for line in render(SAMPLES["failed"]()).splitlines()]
    commands = [command for command, _, _ in lines]
    assert commands == sorted(commands, key=["error", "warning", "notice"].index)
    assert {command for command, place, _ in lines if "(open" in place["title"]} == {"warning"}


def test_what_blocks_later_gates_is_a_notice() -> None:
    lines = [parse(line) for line in render(SAMPLES["blocked_compiler"]()).splitlines()]
    assert [(c, p["title"]) for c, p, _ in lines if "kickoff" in p["title"]] == [
        ("notice", "port.kickoff-incomplete (blocks later gates)")
    ]


def test_of_many_findings_ten_are_annotated() -> None:
    found = [
        samples.result("common.symlink", "G1", Kind.FAIL, "A link.", location=Location(path=f"{n:03}"))
        for n in range(37)
    ]
    report = samples.report(Verdict.FAILED, 1, samples.gate("G1", *found, verdict=Verdict.FAILED))
    lines = [parse(line) for line in render(report).splitlines()]
    assert len(lines) == 1 + 10 + 1
    assert lines[-1][1]["title"] == "G1: 27 more"
    assert "27 more findings of common.symlink" in lines[-1][2]


def test_a_port_elsewhere_is_not_in_the_checkout() -> None:
    made = samples.result("common.symlink", "G1", Kind.FAIL, "Said.", location=Location(path="a.json", line=2))
    report = samples.report(Verdict.FAILED, 1, samples.gate("G1", made, verdict=Verdict.FAILED))
    _, place, data = parse(render(report, Options(root=None)).splitlines()[-1])
    assert set(place) == {"title"}
    assert "At: a.json:2." in data


def test_signatures_are_one_line_a_rule() -> None:
    lines = render(SAMPLES["unsigned"]()).splitlines()
    assert len(lines) == 3
    assert "open on G0, G1, G2" in lines[2]


@settings(max_examples=60, deadline=None)
@given(report=reports())
def test_every_line_is_one_command(report: Report) -> None:
    for line in render(report).splitlines():
        parse(line)
