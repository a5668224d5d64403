"""Every tensor that is stored outside the model is there.

Why: A model without its weights cannot be compiled, and a loader that looks elsewhere may find other weights.
Fix: Export again so that every location names a data file beside the model.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._external import report
from calaudit.model import Result


@check("external-data-missing", gate="G2", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def external_data_missing(view: View) -> Iterator[Result]:
    """Report the faults of this kind among the model's external tensors."""
    yield from report(view)
