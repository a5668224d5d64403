"""The complexity score is the one that the table gives.

Why: The score decides whether a model is fit to be the first; a friendlier one hides the work until it is due.
Fix: Set complexity.rows to the points that the findings expect, and total to their sum. Rows that wait for
vendor/op-matrix.yaml stay open until the vendor sends it.
"""

from collections.abc import Iterator
from typing import Any

from calaudit.checks import View, check
from calaudit.facts.source.complexity import Complexity
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.facts.source.scoring import ROWS, Row
from calaudit.facts.vendor.op_matrix import PATH as MATRIX
from calaudit.model import Result


@check("complexity-mismatch", gate="G0", unwaivable=True)
def complexity_mismatch(view: View) -> Iterator[Result]:
    """Compute each row of runbook §4.2 and compare."""
    claimed: dict[str, Any] | None = view.fact(SourceManifest).document.get("complexity")
    if claimed is None:
        yield view.fail("The manifest holds no complexity score.", at=at(""), expected="complexity: rows, total")
        return
    rows: dict[str, int] = claimed["rows"]
    view.saw()
    if claimed["total"] != sum(rows.values()):
        yield view.fail(
            "The total is not the sum of the rows.",
            at=at("/complexity/total"),
            expected=sum(rows.values()),
            actual=claimed["total"],
        )
    computed = view.fact(Complexity)
    for name in view.each(ROWS):
        yield from _judge(view, name, computed.row(name), rows[name])


def _judge(view: View, name: str, row: Row, claimed: int) -> Iterator[Result]:
    place = at(f"/complexity/rows/{name}")
    if row.score is None:
        yield view.open(f"The row {name} cannot be scored. {row.reason}", at=place)
    elif claimed != row.score and (row.settled or claimed < row.score):
        expected = f"{row.score}" if row.settled else f"at least {row.score}"
        yield view.fail(f"The row {name} has other points. {row.reason}", at=place, expected=expected, actual=claimed)
    elif not row.settled:
        yield view.open(f"The row {name} waits for {MATRIX}. {row.reason}", at=place)
