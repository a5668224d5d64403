"""The targets are within what the vendor supports.

Why: A context, batch or number of chips beyond the vendor's limits cannot be compiled, however simple the model is.
Fix: Lower the targets, or get a matrix with higher limits from the vendor.
"""

from collections.abc import Iterator
from typing import Any

from calaudit.checks import View, check
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.facts.vendor.op_matrix import PATH as MATRIX
from calaudit.model import Result


@check("target-exceeds-vendor", gate="G0", back_to="vendor, or lower targets")
def target_exceeds_vendor(view: View) -> Iterator[Result]:
    """Compare each target with the limits in the vendor's operator matrix."""
    source = view.fact(SourceManifest)
    matrix: Any = view.evidence.document(MATRIX)
    for member in ("context", "batch", "chips"):
        limit = matrix["limits"][member]
        for n, target in enumerate(view.each(getattr(source, member))):
            if target > limit:
                yield view.fail(
                    f"The target {member} is beyond the vendor's limit.",
                    at=at(f"/targets/{member}/{n}"),
                    expected=f"at most {limit}",
                    actual=target,
                )
