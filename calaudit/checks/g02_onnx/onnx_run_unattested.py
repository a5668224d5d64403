"""The model and the results of the ONNX run come from attested runs of the port's tools.

Why: Numbers that anybody could have written prove nothing; an attestation says who ran what on which files. A graph
that was not made from the weights, or results of another run than the report's, are of another port.
Fix: Run the steps with a functionary's key of the export role (`calaudit run`), so that their provenance lands in
attestations/: the export with a tool of tools/ that reads 00-source/weights/, then, in one run, the comparison that
writes report, outputs and tensors (a tool of tools/, or `calaudit onnx compare`).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calaudit.checks import View, check
from calaudit.checks.common._attested import WEIGHTS, misdated, no_tool, origins, run_of_report, unsound
from calaudit.checks.common._runs import declared_runs, declared_steps
from calaudit.facts.onnx.results import MATRIX, OUTPUTS, REPORT, OnnxReport
from calaudit.facts.tensors.index import ONNX_INDEX
from calaudit.model import Result
from calaudit.trust.steps import ChainStep

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.provenance import Provenance

ROLE = "export"
MODEL = "02-onnx/model.onnx"
DATA = f"{MODEL}.data"
READ = (MODEL, DATA, "01-reference/outputs.jsonl", "01-reference/prompts.jsonl", MATRIX)
"""What a comparison cannot do without, where the port has it. Nobody signs the list of cases for its own sake, so an
easier one could take its place."""

HARNESS = ("calaudit", "onnx", "compare")


@check("onnx-run-unattested", gate="G2", trust=True, unwaivable=True)
def onnx_run_unattested(view: View) -> Iterator[Result]:
    """Open for each file without provenance; fail where its run did not read, or was not, what it should."""
    steps = {step.name: step for step in declared_steps(view)}
    yield from _model(view, steps)
    yield from _results(view, steps)


def _model(view: View, steps: dict[str, ChainStep]) -> Iterator[Result]:
    """The runs that made the graph; weights that another step turned into what the export reads are read, too."""
    (runs,) = view.each([declared_runs(view, ROLE, MODEL)])
    if not runs:
        yield view.open(f"Too few functionaries of {ROLE}, or none, attest the run that wrote it.", at=MODEL)
    for name in sorted({run.step for run in runs}):
        yield from no_tool(view, steps[name])
    for run in runs:
        if DATA in view.evidence.entries and DATA not in run.products:
            yield view.fail(f"The run made the model, and not {DATA}, which holds its weights.", at=run.path)
        if not any(read.startswith(WEIGHTS) for read in origins(view, run)):
            yield view.fail(f"The run made the model without {WEIGHTS}**, or what was made of it.", at=run.path)
        yield from unsound(view, steps[run.step], run)


def _results(view: View, steps: dict[str, ChainStep]) -> Iterator[Result]:
    """The one run that the report names; it wrote the report, the outputs and the tensors."""
    report = view.fact(OnnxReport)
    runs: dict[str, Provenance] = {}
    for path in view.each([REPORT, OUTPUTS, ONNX_INDEX]):
        run = run_of_report(view, ROLE, path, REPORT, report.invocation)
        if isinstance(run, Result):
            yield run
            continue
        runs[run.path] = run
        unread = [p for p in READ if p in view.evidence.entries and p not in run.materials]
        if unread:
            yield view.fail(f"The run that wrote {path} did not read {', '.join(unread)}.", at=run.path)
    for run in runs.values():  # one at most: a port has one attestation of an invocation
        yield from no_tool(view, steps[run.step], own=HARNESS)
        yield from unsound(view, steps[run.step], run)
        yield from misdated(view, steps[run.step], run, REPORT, report.document["invocation"])
