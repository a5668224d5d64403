"""Which lengths are boundaries, and what the rules about them share."""

from collections.abc import Iterator

from calaudit.checks import View
from calaudit.facts.onnx.export import PROFILES, OnnxExport
from calaudit.facts.onnx.results import BoundaryCase, ShapeMatrix
from calaudit.facts.tensors.index import TensorKey

LOGITS = "logits"


def boundary_lengths(view: View, context: int) -> list[int]:
    """The lengths at which both profiles must agree: those of the contract below ``context`` - 1, and that."""
    fixed = view.params["boundary_lengths"]
    assert isinstance(fixed, tuple)  # noqa: S101 - the contract's own type
    return sorted({n for n in fixed if isinstance(n, int) and 0 < n < context - 1} | {max(1, context - 1)})


def wanted_cases(view: View) -> Iterator[tuple[int, str, BoundaryCase | None]]:
    """Every boundary length and profile with its first case in the shape matrix, None where there is none."""
    context = view.fact(OnnxExport).context
    cases = view.fact(ShapeMatrix).cases
    for length in boundary_lengths(view, context) if context else ():
        for profile in PROFILES:
            yield length, profile, next((c for c in cases if (c.length, c.profile) == (length, profile)), None)


def logits_of(case: BoundaryCase) -> TensorKey:
    """The tensor in which the result of a case is kept, on either side."""
    return TensorKey(name=LOGITS, sample_id=case.sample_id, profile=case.profile, step=0)
