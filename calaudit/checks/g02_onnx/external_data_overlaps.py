"""No two external tensors share bytes, unless they are the same tensor.

Why: Weights that overlap are wrong in at least one of them; only tied weights share an extent, and then exactly.
Fix: Delete the old data file, then export again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._external import report
from calaudit.model import Result


@check("external-data-overlaps", gate="G2", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def external_data_overlaps(view: View) -> Iterator[Result]:
    """Report the faults of this kind among the model's external tensors."""
    yield from report(view)
