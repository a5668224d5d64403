"""What the rules that compare tensors share."""

from collections.abc import Iterator

from calaudit.checks import View
from calaudit.errors import MissingFact
from calaudit.facts.tensors.index import TensorEntry
from calaudit.facts.tensors.pairs import TensorPairs
from calaudit.model import Result


def tolerance(view: View) -> tuple[float, float] | None:
    """The contract's absolute and relative tolerance; None where they could not reject anything."""
    from calaudit.numerics import usable_tolerance  # noqa: PLC0415 - heavy

    limits = view.number("fp32_atol"), view.number("fp32_rtol")
    return limits if usable_tolerance(*limits) else None


def judge_pair(
    view: View, pair: tuple[TensorEntry, TensorEntry], limits: tuple[float, float], title: str, *, argmax: bool = False
) -> Iterator[Result]:
    """Compare two tensors, the second being the reference.

    ``argmax`` says that their highest values must be at one place too.
    """
    pairs = view.fact(TensorPairs)
    (found, wanted), (atol, rtol) = pair, limits
    try:
        result = pairs.compare(found, wanted, atol, rtol)
    except MissingFact as missing:
        yield view.open(missing.message, at=missing.at)
        return
    if isinstance(result, str):
        yield view.fail(f"{title}: {result}.", at=found.at, expected=list(wanted.shape), actual=list(found.shape))
        return
    expected = f"|difference| ≤ {atol:g} + {rtol:g} * |reference|"
    if result.count == 0:
        yield view.open(f"{title}: the tensors are empty, so nothing was compared.", at=found.at)
    elif any(result.nonfinite):
        left, right = result.nonfinite
        actual = f"{left} value(s) not finite, {right} in the reference"
        yield view.fail(
            f"{title}: NaN or infinity.", at=found.at, expected="finite values on both sides", actual=actual
        )
    elif result.violations:
        actual = f"{result.violations} of {result.count} outside, largest difference {result.max_abs:.6g}"
        yield view.fail(f"{title}: {found.key}.", at=found.at, expected=expected, actual=actual)
    elif argmax and pairs.argmax(found) != pairs.argmax(wanted):
        yield view.fail(f"{title}: another token is the most likely.", at=found.at)
