"""The vendor's signed matrix confirms the opset and every operator of the model.

Why: A matrix that nobody signed confirms nothing, however well it agrees with the model.
Fix: Have the compiler role sign what the vendor sent (`calaudit signoff port PORT --role compiler --key URI`). What the
matrix says is judged by opset-contradicts-vendor.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.vendor.op_matrix import PATH, OpMatrix
from calaudit.model import Result


@check("opset-not-vendor-confirmed", gate="G2", kinds=("pass", "open"), trust=True, unwaivable=True, back_to="vendor")
def opset_not_vendor_confirmed(view: View) -> Iterator[Result]:
    """Open while no signoff of the compiler role covers the matrix."""
    view.fact(OpMatrix)
    view.saw()
    if not view.signed.covers("compiler", PATH):
        yield view.open("The compiler role has not signed it.", at=PATH)
