"""The vendor's signed matrix confirms the opset and every operator of the model.

Why: A matrix that nobody signed confirms nothing, however well it agrees with the model.
Fix: Nothing yet: this version of calaudit verifies no signatures. What the matrix says is judged by
opset-contradicts-vendor.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.vendor.op_matrix import PATH, OpMatrix
from calaudit.model import Result


@check("opset-not-vendor-confirmed", gate="G2", kinds=("open",), trust=True, unwaivable=True, back_to="vendor")
def opset_not_vendor_confirmed(view: View) -> Iterator[Result]:
    """Open: no trust root is pinned, so the signature of the matrix cannot be verified."""
    view.fact(OpMatrix)
    yield view.open("The signature of the matrix needs a trust root; none is pinned.", at=PATH)
