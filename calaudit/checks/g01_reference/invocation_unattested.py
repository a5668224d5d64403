"""Both runs of the reference are attested invocations, made apart.

Why: Two reports with different ids are two files that somebody wrote. Only whoever ran a step can attest that it ran,
and a third party that it ran twice. A second run that had the first one's answers to read, or that was not run by the
same tool, proves nothing of either.
Fix: Run both steps with a functionary's key of the model role (`calaudit run`), so that provenance of each lands in
attestations/: one tool of tools/ with one toolchain, two commands that differ in the run or its output, one after the
other, neither with a product of the other among its materials. For a run elsewhere, attest it by the id that its
report names (`calaudit attest --invocation`).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calaudit.checks import View, check
from calaudit.checks.common._attested import TOOLS, WEIGHTS, above, misdated, no_tool, run_of_report, unsound
from calaudit.checks.common._runs import declared_steps
from calaudit.facts.reference.prompts import PROMPTS
from calaudit.facts.reference.runs import REPORT, SECOND_REPORT, ReportFact, SecondReportFact
from calaudit.model import Location, Result
from calaudit.trust.steps import ChainStep

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.provenance import Provenance

ROLE = "model"
MODEL = ("00-source/hf-config/*", f"{WEIGHTS}**")
"""What a run of the reference cannot do without, besides the prompts."""

ANSWERS = ("outputs.jsonl", "tokens.jsonl")


@check("invocation-unattested", gate="G1", trust=True, unwaivable=True)
def invocation_unattested(view: View) -> Iterator[Result]:
    """Open for a run without provenance; fail where it is of another invocation or no run of its own."""
    steps = {step.name: step for step in declared_steps(view)}
    runs = []
    reports = ((REPORT, view.fact(ReportFact).document), (SECOND_REPORT, view.fact(SecondReportFact).document))
    for report, document in view.each(reports):
        invocation = document["invocation"]
        run = run_of_report(view, ROLE, report, report, invocation["id"])
        if isinstance(run, Result):
            yield run
            continue
        runs.append(run)
        step = steps[run.step]
        yield from _left_out(view, run, report)
        yield from _answers_read(view, run, report)
        yield from no_tool(view, step)
        yield from unsound(view, step, run)
        yield from misdated(view, step, run, report, invocation)
    if len(runs) == 2:
        first, second = runs
        yield from _one_of_the_other(view, steps, first, second)
        yield from _otherwise_made(view, steps[first.step], steps[second.step], first, second)
        yield from _at_once(view, first, second)


def _products(report: str) -> list[str]:
    folder = report.rpartition("/")[0]
    return [f"{folder}/{name}" for name in ANSWERS]


def _left_out(view: View, run: "Provenance", report: str) -> Iterator[Result]:
    """What such a run writes or reads, and does not speak of; weights may be kept elsewhere than in the port."""
    left_out = [path for path in _products(report) if path not in run.products]
    model = [entry.path for pattern in MODEL for entry in view.evidence.matching(pattern)]
    left_out += [path for path in (PROMPTS, *model) if path not in run.materials]
    if not any(path.startswith(WEIGHTS) for path in (*run.materials, *left_out)):
        left_out.append(f"{WEIGHTS}**")
    if left_out:
        yield view.fail(f"It says nothing of {', '.join(left_out)}, which the run wrote or read.", at=run.path)


def _answers_read(view: View, run: "Provenance", report: str) -> Iterator[Result]:
    """The answers of either run, under whatever name, among what the run read."""
    entries = view.evidence.entries
    answers = {entries[path].sha256: path for path in _products(report) if path in entries and entries[path].size}
    for path, digest in sorted(run.materials.items()):
        if digest in answers:
            yield view.fail(
                f"The run read {path}, which has the same bytes as {answers[digest]}, the answers that it was to give.",
                at=run.path,
            )


def _one_of_the_other(
    view: View, steps: dict[str, ChainStep], first: "Provenance", second: "Provenance"
) -> Iterator[Result]:
    """A run that wrote what the other wrote, or whose step may read it, straight or through steps between."""
    shared = min(first.products.keys() & second.products.keys(), default=None)
    if shared is not None:
        yield view.fail(f"Both this run and {first.path} wrote {shared}: two runs have products apart.", at=second.path)
    for run, other in ((first, second), (second, first)):
        if other.step in above(steps, run.step):
            yield view.fail(
                f"{run.step} may read what {other.step} writes, and so copy it; take it from its materials, and from "
                "those of the steps that make them.",
                at=Location(path="port.yaml", pointer=f"/steps/{run.step}/materials"),
            )


def _otherwise_made(
    view: View, one: ChainStep, other: ChainStep, first: "Provenance", second: "Provenance"
) -> Iterator[Result]:
    """Runs by other means than each other's, or by one command, which cannot have written other files."""
    at = f"/steps/{other.name}"
    if (one.command, one.env) == (other.command, other.env):
        yield view.fail(
            f"{other.name} has the command and the environment of {one.name}, and so writes what that writes; let it "
            "say which run it is, or where it writes.",
            at=Location(path="port.yaml", pointer=f"{at}/run"),
        )
    tools = [{p: d for p, d in r.materials.items() if p.startswith(TOOLS)} for r in (first, second)]
    if tools[0] != tools[1] or sorted(one.tools) != sorted(other.tools):
        yield view.fail(
            "The two runs are not of the same tools.",
            at=Location(path="port.yaml", pointer=f"{at}/tools"),
            expected=", ".join(sorted(tools[0])) or "none",
            actual=", ".join(sorted(tools[1])) or "none",
        )
    chains = [_toolchain(step, run) for step, run in ((one, first), (other, second))]
    if chains[0] != chains[1]:
        yield view.fail(
            "The two runs are not of the same toolchain.", at=second.path, expected=chains[0], actual=chains[1]
        )


def _toolchain(step: ChainStep, run: "Provenance") -> str:
    """The toolchain by its name and, where the executor says it, its digest."""
    said = run.internal.get("toolchain")
    digest = said.get("digest") if isinstance(said, dict) else None
    return f"{step.toolchain or 'none'} {digest or ''}".strip()


def _at_once(view: View, first: "Provenance", second: "Provenance") -> Iterator[Result]:
    """Attested runs that overlap: the reports' own times may be set by SOURCE_DATE_EPOCH, these are not."""
    if first.started < second.finished and second.started < first.finished:
        yield view.fail(
            f"The two attested runs overlap in time ({first.path} is the other); the second is made by itself, after "
            "or before the first.",
            at=second.path,
            expected=f"not between {first.started:%Y-%m-%dT%H:%M:%SZ} and {first.finished:%Y-%m-%dT%H:%M:%SZ}",
            actual=f"{second.started:%Y-%m-%dT%H:%M:%SZ} to {second.finished:%Y-%m-%dT%H:%M:%SZ}",
        )
