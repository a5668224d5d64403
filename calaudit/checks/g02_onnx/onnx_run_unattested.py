"""The results of the ONNX run come from an attested run of the harness.

Why: Numbers that anybody could have written prove nothing; an attestation says who ran what on which files.
Fix: Run the step with a functionary's key of the export role, so that its provenance lands in attestations/.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._runs import declared_runs
from calaudit.facts.onnx.results import MATRIX, OUTPUTS, REPORT
from calaudit.facts.tensors.index import ONNX_INDEX
from calaudit.model import Result

ROLE = "export"
READ = (
    "02-onnx/model.onnx",
    "02-onnx/model.onnx.data",
    "01-reference/outputs.jsonl",
    "01-reference/prompts.jsonl",
    MATRIX,
)
"""What a comparison cannot do without, where the port has it. Nobody signs the list of cases for its own sake, so an
easier one could take its place."""


@check("onnx-run-unattested", gate="G2", trust=True, unwaivable=True)
def onnx_run_unattested(view: View) -> Iterator[Result]:
    """Open for each result without provenance; fail where the run did not read the model and the reference."""
    for path in view.each([REPORT, OUTPUTS, ONNX_INDEX]):
        found = declared_runs(view, ROLE, path)
        if not found:
            yield view.open(f"Too few functionaries of {ROLE}, or none, attest the run that wrote it.", at=path)
            continue
        unread = [p for p in READ if p in view.evidence.entries and p not in found[-1].materials]
        if unread:
            yield view.fail(f"The run that wrote {path} did not read {', '.join(unread)}.", at=found[-1].path)
