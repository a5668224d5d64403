import re

import pytest
from hypothesis import given, settings

from calaudit.model import Kind, Location, Report, Verdict
from calaudit.report import Options, renderer
from calaudit.report._layout import cells
from tests.report import samples
from tests.report.nasty import reports
from tests.report.samples import SAMPLES

render = renderer("text")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def flat(text: str) -> str:
    return " ".join(text.split())


def shown_paths(report: Report) -> set[str]:
    return {str(r.location) for r in report.findings if r.location is not None}


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("sample", SAMPLES)
def test_eighty_columns(sample: str, verbose: bool) -> None:
    for line in render(SAMPLES[sample](), Options(verbose=verbose)).splitlines():
        assert cells(line) <= 80


@pytest.mark.parametrize("width", [60, 120])
def test_as_wide_as_the_terminal(width: int) -> None:
    lines = render(SAMPLES["passed"](), Options(width=width)).splitlines()
    assert max(map(cells, lines)) == width


@settings(max_examples=60, deadline=None)
@given(report=reports())
def test_only_paths_are_wider(report: Report) -> None:
    from calaudit.report._escape import inert, visible

    paths = {inert(visible(path)).strip() for path in shown_paths(report)}
    for line in render(report).splitlines():
        # `inert` can lengthen a full line by a few characters: better than a command in a log.
        assert cells(line) <= 80 or line.strip() in paths or "\\x3a:" in line or "\\x23#" in line


@pytest.mark.parametrize("sample", SAMPLES)
def test_colour_changes_nothing_else(sample: str) -> None:
    report = SAMPLES[sample]()
    coloured = render(report, Options(colour=True))
    assert "\x1b[" in coloured
    assert ANSI.sub("", coloured) == render(report)


def test_passed() -> None:
    out = flat(render(SAMPLES["passed"]()))
    assert "exit 0: passed" in out
    assert "Nothing is wrong through G2, and nothing is left to verify." in out
    assert "2 rules warned, which does not decide: G1 2." in out
    assert "G3 to G4 NOT_STARTED" in out
    assert "Next: Go on with the gate after G2" in out


def test_unsigned_says_so_once() -> None:
    out = flat(render(SAMPLES["unsigned"]()))
    assert "Nothing is wrong, but 6 rules could not be verified: G0 2, G1 2, G2 2." in out
    assert "What could not be verified waits for signatures, and no trust root is pinned." in out
    assert out.count("common.signoff-missing") == 1
    assert "Open on G0, G1, G2." in out
    assert "Next: Through G2 every technical rule that has a matter passes; what is left are signatures." in out
    assert out.count("Pin a trust root and have the role sign off the gate.") == 1
    assert "technically PASSED" in out


def test_failed_lists_every_finding_and_each_fix_once() -> None:
    report = SAMPLES["failed"]()
    out = render(report)
    for path in shown_paths(report):
        assert path in out
    assert out.count("A symbolic link is not a file of the port.") == 1
    assert out.count("fix: Replace the link by the file.") == 1
    assert "a link to /etc/passwd" in out
    assert "expected 411" in out
    assert "actual   17" in out


def test_one_cause_is_told_once() -> None:
    out = render(SAMPLES["failed"]())
    assert "? G2.onnx-invalid, G2.op-inventory-wrong" in out
    assert out.count("02-onnx/model.onnx is missing") == 1


def test_what_fails_comes_before_what_is_open_and_what_warns() -> None:
    out = render(SAMPLES["failed"]())
    assert out.index("G2.greedy-mismatch") < out.index("G2.onnx-invalid")
    assert out.index("common.symlink") < out.index("G1.prompt-hint")


def test_open_alike_on_several_gates_is_told_once() -> None:
    gates = [
        samples.gate(name, samples.result("common.symlink", name, Kind.OPEN, "No file."), verdict=Verdict.INCOMPLETE)
        for name in ("G0", "G1", "G2")
    ]
    out = flat(render(samples.report(Verdict.INCOMPLETE, 3, *gates)))
    assert out.count("No file.") == 2  # and in what to do next
    assert "Open on G0, G1, G2. No file." in out


def test_what_blocks_later_gates_is_neither_open_nor_next() -> None:
    report = SAMPLES["blocked_compiler"]()
    out = flat(render(report))
    assert "Port · 4 files PASSED technically PASSED: 1 of 2 rules passed, 1 blocks G3, G4, G5" in out
    assert "⊘ port.kickoff-incomplete" in out
    assert "Blocks G3, G4, G5; decides no other verdict." in out
    assert "? port.kickoff-incomplete" not in out
    assert "Begin with port.kickoff-incomplete" not in out


def test_next_is_the_first_cause() -> None:
    def said(*found: tuple[str, str, Kind]) -> str:
        gates = [
            samples.gate(name, *(samples.result(k, g, kind, "So.") for k, g, kind in found if g == name),
                         verdict=Verdict.FAILED)
            for name in ("port", "G0", "G1", "G2")
        ]  # fmt: skip
        return flat(render(samples.report(Verdict.FAILED, 1, *gates))).partition("Next: ")[2]

    unproven, link = ("G1.reference-not-reproducible", "G1", Kind.FAIL), ("common.symlink", "G2", Kind.FAIL)
    assert said(unproven, link).startswith("Begin with common.symlink on G2: So. Replace the link by the file.")
    assert "goes back" not in said(unproven, link)
    assert said(unproven, ("G2.onnx-invalid", "G2", Kind.OPEN)).startswith("Begin with G1.reference-not-reproducible:")
    assert said(unproven).endswith("If that is not enough, G1 goes back to: what made G1.")


def test_many_findings_of_a_rule_are_counted() -> None:
    found = [
        samples.result("common.symlink", "G1", Kind.FAIL, "A link.", location=Location(path=f"link-{n:03}"))
        for n in range(102)
    ]
    report = samples.report(Verdict.FAILED, 1, samples.gate("G1", *found, verdict=Verdict.FAILED))
    out = render(report)
    assert out.count("      link-") == 5
    assert "… and 97 more (see -o json)." in out
    assert render(report, Options(verbose=True)).count("      link-") == 102


def test_a_warning_that_is_open_is_not_judged() -> None:
    found = samples.result("common.schema-unknown", "G0", Kind.OPEN, "No document.")
    out = render(samples.report(Verdict.INCOMPLETE, 3, samples.gate("G0", found, verdict=Verdict.INCOMPLETE)))
    assert "1 not judged" in out
    assert "warned" not in out
    assert "? common.schema-unknown" in out


def test_blocked_gates_say_why() -> None:
    out = flat(render(SAMPLES["blocked_compiler"]()))
    assert "G4 to G5 BLOCKED_COMPILER Blocked, since the compiler vendor has to deliver" in out
    assert "G3: blocked, since the compiler vendor" in out


def test_blocked_by_reproducibility() -> None:
    out = flat(render(SAMPLES["blocked_reproducibility"]()))
    assert "BLOCKED_REPRODUCIBILITY exit 1" in out
    assert "the result could not be reproduced" in out


def test_crash_and_unsafe_flags_are_shown() -> None:
    out = render(SAMPLES["crashed"]())
    assert "note: Internal error: G2.onnx-invalid" in out
    assert "KeyError: 'x'" in out
    assert "UNSAFE: this audit was weakened by --unsafe-time." in out
    assert "exit 4: calaudit itself failed" in out
    assert "says nothing reliable" in flat(out)


def test_passed_rules_are_counted_and_listed_on_demand() -> None:
    report = SAMPLES["unsigned"]()
    assert "✓" not in render(report)
    assert "1 of 4 rules passed, 2 unsigned, 1 n/a" in render(report)
    verbose = render(report, Options(verbose=True))
    assert "✓ common.symlink: Demand symlink (3 examined)" in verbose
    assert "There is no list of digests here." in flat(verbose)


def test_long_values_are_whole() -> None:
    value = "v" * 500
    found = samples.result("common.symlink", "G0", Kind.FAIL, "Long.", actual=value, expected=value)
    out = render(samples.report(Verdict.FAILED, 1, samples.gate("G0", found, verdict=Verdict.FAILED)))
    assert out.replace("\n", "").replace(" ", "").count("v" * 500) == 2


def test_a_place_is_told_once_and_a_long_list_is_cut() -> None:
    where = Location(path="02-onnx/model.onnx")
    names = ", ".join(f"name-{n:03}" for n in range(104))
    found = [
        samples.result("G2.onnx-invalid", "G2", Kind.FAIL, said, location=where, expected=names, actual=actual)
        for said, actual in (("One.", "x"), ("Two.", "x"), ("Three.", "x"), ("Four.", "y"), ("Four.", "z"))
    ]
    report = samples.report(Verdict.FAILED, 1, samples.gate("G2", *found, verdict=Verdict.FAILED))
    out = render(report)
    assert out.count(f"      {where}\n") == 2
    assert "name-004, … and 99 more (see -o json)" in flat(out)
    assert "name-005" not in out
    assert "name-103" in render(report, Options(verbose=True))


def test_ascii_only_has_no_other_marks_but_keeps_names() -> None:
    found = samples.result("common.symlink", "G0", Kind.FAIL, "A link…", location=Location(path="a…b"), actual="c…d")
    report = samples.report(Verdict.FAILED, 1, samples.gate("G0", found, verdict=Verdict.FAILED))
    out = render(report, Options(ascii_only=True))
    assert "  x common.symlink" in out
    assert "A link..." in out
    assert "a…b" in out
    assert "c…d" in out
    for name, sample in SAMPLES.items():
        if name != "failed":  # it has a file with a name that is not ASCII
            assert render(sample(), Options(ascii_only=True, verbose=True)).isascii()
