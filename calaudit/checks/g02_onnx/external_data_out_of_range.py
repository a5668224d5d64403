"""Every external tensor has exactly the bytes its shape needs, inside its file.

Why: Loaders accept extents beyond the file or of the wrong length, and fill tensors with whatever stands there.
Fix: Delete the old data file, then export again: some exporters append to a file that exists.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._external import report
from calaudit.model import Result


@check("external-data-out-of-range", gate="G2", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def external_data_out_of_range(view: View) -> Iterator[Result]:
    """Report the faults of this kind among the model's external tensors."""
    yield from report(view)
