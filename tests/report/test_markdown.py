import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from calaudit.model import Kind, Location, Report, Verdict
from calaudit.report import renderer
from calaudit.report._escape import visible
from calaudit.report._prose import prose, span, told
from calaudit.report.markdown import PLACES
from tests.report import samples
from tests.report.nasty import HOSTILE, reports, text
from tests.report.samples import SAMPLES

render = renderer("markdown")
OURS = {"<code>", "</code>"}


def to_html(markdown: str) -> str:
    found: str = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
    return found


def shown(html: str) -> str:
    from html import unescape

    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_prose_is_shown_as_it_is(hostile: str) -> None:
    html = to_html(f"x {prose(hostile)} x")
    assert shown(html).split() == f"x {visible(hostile)} x".split()


@settings(max_examples=300, deadline=None)
@given(text)
def test_prose_begins_no_block_and_makes_no_markup(hostile: str) -> None:
    html = to_html(f"- {prose(hostile)}\n")
    assert set(re.findall(r"<[^>]*>", html)) <= {"<ul>", "</ul>", "<li>", "</li>"}
    assert shown(html).split() == visible(hostile).split()


@settings(max_examples=300, deadline=None)
@given(text)
def test_a_sentence_begins_no_block_and_makes_no_markup_but_code(hostile: str) -> None:
    html = to_html(f"- {told(hostile)}\n")
    assert set(re.findall(r"<[^>]*>", html)) <= {"<ul>", "</ul>", "<li>", "</li>", *OURS}
    assert shown(html).split() == re.sub(r"`([^`]+)`", r"\1", visible(hostile)).split()


def test_a_command_is_code() -> None:
    html = to_html(told("Run `calaudit run STEP --key <URI>`, then look."))
    assert "<p>Run <code>calaudit run STEP --key &lt;URI&gt;</code>, then look.</p>" in html
    assert told("one ` alone") == "one \\` alone"


def test_long_lists_are_cut() -> None:
    names = ", ".join(f"name-{n:03}" for n in range(104))
    found = samples.result("common.symlink", "G0", Kind.FAIL, "A link.", expected=names)
    report = samples.report(Verdict.FAILED, 1, samples.gate("G0", found, verdict=Verdict.FAILED))
    assert "name-004, … and 99 more (see -o json)" in render(report)
    assert "name-005" not in render(report)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["http://a.invalid", "https://a.invalid", "www.a.invalid", "ftp://a"]))
def test_no_bare_links(link: str) -> None:
    escaped = prose(link)
    assert "://" not in escaped
    assert "www." not in escaped


@settings(max_examples=100, deadline=None)
@given(text)
def test_a_span_stays_in_its_table_cell(hostile: str) -> None:
    html = to_html(f"| a | b |\n|---|---|\n| {span(hostile)} | end |\n")
    assert html.count("<td>") == 2
    assert "<td>end</td>" in html


@pytest.mark.parametrize("sample", SAMPLES)
def test_table_has_a_row_for_each_gate(sample: str) -> None:
    report = SAMPLES[sample]()
    html = to_html(render(report))
    assert html.count("<tr>") == 1 + len(report.gates)
    assert html.count("<td") == 10 * len(report.gates)


def test_says_what_counts() -> None:
    html = shown(to_html(render(SAMPLES["failed"]())))
    for part in (
        "calaudit: FAILED",
        "3 rules fail: G1\u00a02, G2\u00a01.",
        "02-onnx/onnx-outputs.jsonl:18#/steps/3/token",
        "Fix: Replace the link by the file.",
        "Signatures: not verified",
        "G2.onnx-invalid, G2.op-inventory-wrong",
    ):
        assert part in html


def test_many_places_are_counted() -> None:
    found = [
        samples.result("common.symlink", "G0", Kind.FAIL, "A link.", location=Location(path=f"link-{n:03}"))
        for n in range(PLACES + 5)
    ]
    out = render(samples.report(Verdict.FAILED, 1, samples.gate("G0", *found, verdict=Verdict.FAILED)))
    assert out.count("link-") == PLACES + 1  # and in what to do next
    assert "and 5 more places" in out


@settings(max_examples=40, deadline=None)
@given(report=reports())
def test_no_html_but_ours(report: Report) -> None:
    assert set(re.findall(r"<[^>]*>", render(report))) <= OURS
