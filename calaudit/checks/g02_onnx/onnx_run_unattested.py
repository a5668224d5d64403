"""The results of the ONNX run come from an attested run of the harness.

Why: Numbers that anybody could have written prove nothing; an attestation says who ran what on which files.
Fix: Nothing yet: this version of calaudit verifies no signatures, so the rule stays open. Keep what `calaudit onnx
compare` wrote as it is; a later version signs what each run read and wrote.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.results import OUTPUTS, REPORT
from calaudit.facts.tensors.index import ONNX_INDEX
from calaudit.model import Result


@check("onnx-run-unattested", gate="G2", kinds=("open",), trust=True)
def onnx_run_unattested(view: View) -> Iterator[Result]:
    """Open for each result of the run: an attestation needs a trust root."""
    for path in view.each([REPORT, OUTPUTS, ONNX_INDEX]):
        yield view.open("Whether an attested run wrote this needs a trust root; none is pinned.", at=path)
