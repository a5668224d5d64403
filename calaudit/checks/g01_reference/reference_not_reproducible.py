"""A second, independent run gave the same bytes.

Why: A reference that differs from run to run cannot be compared with: no one can tell a wrong port from a lucky one.
A copy of the first run is no second run.
Fix: Fix seed, threads and determinism switches, and run the whole reference again in a new process; keep that run's
outputs.jsonl, tokens.jsonl and reference-report.json, untouched, in run-2/.
"""

from collections.abc import Iterator
from datetime import datetime

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.runs import FOLDER, SECOND, SECOND_REPORT, ReportFact, SecondReportFact
from calaudit.model import Location, Result

SAME = (
    "model_revision",
    "tokenizer_sha256",
    "prompts_sha256",
    "dtypes",
    "seed",
    "determinism",
    "generation",
    "environment",
)
"""What two runs must have in common for equal outputs to say anything."""


@check("reference-not-reproducible", gate="G1", unwaivable=True)
def reference_not_reproducible(view: View) -> Iterator[Result]:
    """Compare the files of both runs byte by byte, and what their reports say of the invocations."""
    yield from in_parts(view, _outputs, _tokens, _conditions, _times)


def _outputs(view: View) -> Iterator[Result]:
    yield from _same_bytes(view, "outputs.jsonl")


def _tokens(view: View) -> Iterator[Result]:
    yield from _same_bytes(view, "tokens.jsonl")


def _same_bytes(view: View, name: str) -> Iterator[Result]:
    first, second = FOLDER + name, SECOND + name
    records, again = view.evidence.records(first), view.evidence.records(second)
    if not records and not again:
        yield view.open(f"Both runs have an empty {name}, so nothing was reproduced.", at=second)
        return
    view.saw(len(records))
    expected, actual = view.evidence.entry(first).sha256, view.evidence.entry(second).sha256
    if expected == actual:
        return
    at, where = Location(path=second), ""
    for one, other in zip(records, again, strict=False):
        if one.value != other.value:
            where = f" They first differ at {one.value.get('sample_id')} ({one.value.get('dtype')})."
            at = Location(path=second, line=other.line)
            break
    else:
        if len(records) != len(again):
            where = f" The first run has {len(records)} records, the second {len(again)}."
    yield view.fail(
        f"The second run's {name} is not the first's.{where}",
        at=at,
        expected=f"sha256 {expected}",
        actual=f"sha256 {actual}",
    )


def _conditions(view: View) -> Iterator[Result]:
    first, second = view.fact(ReportFact), view.fact(SecondReportFact)
    view.saw()
    if first.invocation == second.invocation:
        yield view.fail(
            "Both reports are of one invocation: there was no second run.",
            at=Location(path=SECOND_REPORT, pointer="/invocation/id"),
            expected=f"another id than {first.invocation}",
            actual=second.invocation,
        )
    for name in SAME:
        if first.document[name] != second.document[name]:
            yield view.fail(
                f"The two runs do not have the same {name}.",
                at=Location(path=SECOND_REPORT, pointer=f"/{name}"),
                expected=first.document[name],
                actual=second.document[name],
            )


def _times(view: View) -> Iterator[Result]:
    first, second = view.fact(ReportFact), view.fact(SecondReportFact)
    spans = []
    for report, folder in ((first, FOLDER), (second, SECOND)):
        span = (_moment(report.started), _moment(report.finished))
        if span[0] > span[1]:
            at = Location(path=f"{folder}reference-report.json", pointer="/invocation/finished")
            yield view.fail(
                "The run finished before it started.", at=at, expected=f"from {report.started}", actual=report.finished
            )
        spans.append(span)
    if (spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]) or spans[0] == spans[1]:
        yield view.fail(
            "The two runs overlap in time; the second is made by itself, after or before the first.",
            at=Location(path=SECOND_REPORT, pointer="/invocation/started"),
            expected=f"not between {first.started} and {first.finished}",
            actual=f"{second.started} to {second.finished}",
        )


def _moment(text: str) -> datetime:
    # The schema allows nine digits of a second; Python keeps six.
    return datetime.fromisoformat(text)
