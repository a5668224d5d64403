"""External data stay in the folder of the model.

Why: A location that leaves the folder reads files of whoever opens the model, and is not part of what was audited.
Fix: Export again with plain relative locations and without basepath.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._external import report
from calaudit.model import Result


@check("external-data-escapes", gate="G2", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def external_data_escapes(view: View) -> Iterator[Result]:
    """Report the faults of this kind among the model's external tensors."""
    yield from report(view)
