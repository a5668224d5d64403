"""Every number in the reports of both runs follows from the raw evidence.

Why: A report is what people read and decide by; it proves nothing by itself. Each number that the raw records can
confirm is computed from them again.
Fix: Write reference-report.json from the records with the same run that wrote them; never edit it by hand.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.bf16 import Bf16Fact
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.reference.quality import QualityFact
from calaudit.facts.reference.runs import DTYPES, REPORT, SECOND_REPORT, OutputsFact, ReportFact, SecondReportFact
from calaudit.model import Location, Result

Document = Mapping[str, Any]
Read = Callable[[View], tuple[str, Document]]
RELATIVE = 1e-9
"""Float64 sums in another order differ by less."""


@check("claim-not-reproduced", gate="G1")
def claim_not_reproduced(view: View) -> Iterator[Result]:
    """Compare counts, precisions, quality and the distance of BF16; the second run gave the same records."""
    for read in (_first, _second):
        yield from in_parts(view, *(partial(part, read=read) for part in (_counts, _dtypes, _quality, _bf16)))


def _first(view: View) -> tuple[str, Document]:
    return REPORT, view.fact(ReportFact).document


def _second(view: View) -> tuple[str, Document]:
    return SECOND_REPORT, view.fact(SecondReportFact).document


def _counts(view: View, read: Read) -> Iterator[Result]:
    path, report = read(view)
    prompts, outputs = view.fact(PromptsFact), view.fact(OutputsFact)
    actual = {
        "prompts": prompts.total,
        "legal": prompts.legal_count,
        "refused": prompts.refused_count,
        "outputs": outputs.answered,
    }
    for name, value in view.each(actual.items()):
        yield from _compare(view, Location(path=path, pointer=f"/counts/{name}"), report["counts"][name], value)


def _dtypes(view: View, read: Read) -> Iterator[Result]:
    path, report = read(view)
    actual = view.fact(OutputsFact).dtypes
    view.saw()
    if tuple(sorted(report["dtypes"])) != actual:
        yield view.fail(
            "The report names other precisions than the outputs have.",
            at=Location(path=path, pointer="/dtypes"),
            expected=", ".join(actual) or "none",
            actual=", ".join(report["dtypes"]),
        )


def _quality(view: View, read: Read) -> Iterator[Result]:
    path, report = read(view)
    quality = view.fact(QualityFact)
    claims = report["quality"]
    yield from _compare(view, Location(path=path, pointer="/quality/samples"), claims["samples"], quality.samples)
    for dtype in DTYPES:
        baseline = quality.of(dtype)
        for name in ("accuracy", "perplexity"):
            if name in claims[dtype]:
                view.saw()
                at = Location(path=path, pointer=f"/quality/{dtype}/{name}")
                yield from _compare(view, at, claims[dtype][name], getattr(baseline, name))


def _bf16(view: View, read: Read) -> Iterator[Result]:
    path, report = read(view)
    bf16 = view.fact(Bf16Fact)
    for name, claim in view.each(report["bf16"].items()):
        yield from _compare(view, Location(path=path, pointer=f"/bf16/{name}"), claim, getattr(bf16, name))


def _compare(view: View, at: Location, claim: float, actual: float | None) -> Iterator[Result]:
    if actual is None:
        yield view.open(f"The raw evidence does not give {at.pointer}, so it cannot be confirmed.", at=at)
    elif not math.isclose(claim, actual, rel_tol=RELATIVE, abs_tol=0.0):
        yield view.fail(
            f"{at.pointer} does not follow from the raw evidence.", at=at, expected=repr(actual), actual=repr(claim)
        )
