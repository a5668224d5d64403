"""The targets say what the product must reach.

Why: Without bars of latency, throughput, power and quality nobody can say whether a port is worth starting or shipping.
Fix: Fill in every target with the product's owner, and the task they are for.
"""

import math
from collections.abc import Iterator
from typing import Any

from calaudit.checks import View, check
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.model import Result

_NUMBERS = {
    "concurrency": "requests in flight",
    "ttft_ms": "milliseconds to the first token",
    "tpot_ms": "milliseconds for each further token",
    "throughput_tokens_per_s": "tokens a second",
    "power_w": "watts",
}
_LISTS = ("context", "batch", "chips")
_SIDES = {"perplexity": "maximum", "accuracy": "minimum"}
"""On which side of a metric the bar must be: every model has a perplexity of one or more, and an accuracy up to one."""


@check("sla-missing", gate="G0", unwaivable=True)
def sla_missing(view: View) -> Iterator[Result]:
    """Look for every target of runbook §4.1; a number must be finite and positive."""
    source = view.fact(SourceManifest)
    targets: dict[str, Any] = source.document["targets"]
    if source.task is None:
        yield view.fail("The manifest does not say the task.", at=at(""), expected="task, such as text-generation")
    for name, unit in view.each(_NUMBERS.items()):
        if name not in targets:
            yield view.fail(f"The target {name} is missing.", at=at("/targets"), expected=f"a number of {unit}")
        elif not _is_bar(targets[name]):
            yield view.fail(f"The target {name} is no bar.", at=at(f"/targets/{name}"), actual=targets[name])
    for name in view.each(_LISTS):
        values = targets[name]
        if not values or not all(_is_bar(value) for value in values):
            yield view.fail(f"The target {name} has no usable value.", at=at(f"/targets/{name}"), actual=values)
    view.saw()
    yield from _quality(view, targets, source.tokenizer_vocab)


def _quality(view: View, targets: dict[str, Any], vocab: int) -> Iterator[Result]:
    quality = targets.get("quality")
    if quality is None:
        yield view.fail(
            "The target quality is missing.", at=at("/targets"), expected="a metric with minimum or maximum"
        )
        return
    bars = {name: quality[name] for name in ("minimum", "maximum") if name in quality}
    metric = quality["metric"]
    if len(bars) != 1 or not all(_is_bar(value) for value in bars.values()):
        yield view.fail(
            "The quality bar cannot be missed.", at=at("/targets/quality"), expected="one positive bar", actual=bars
        )
    elif not bars.keys() <= {_SIDES.get(metric, *bars)}:
        yield view.fail(
            f"The quality bar cannot be missed: it is on the wrong side of {metric}.",
            at=at("/targets/quality"),
            expected=_SIDES[metric],
            actual=", ".join(bars),
        )
    else:
        yield from _chance(view, metric, bars, vocab)


def _chance(view: View, metric: str, bars: dict[str, Any], vocab: int) -> Iterator[Result]:
    """A model that knows next to nothing must miss the bar."""
    if metric == "perplexity":
        most = view.number("perplexity_vocab_share_max") * vocab
        if bars["maximum"] > most:
            yield view.fail(
                "The quality bar cannot be missed: guessing any token of the vocabulary meets it, or all but meets it.",
                at=at("/targets/quality/maximum"),
                expected=f"at most {most:g}",
                actual=bars["maximum"],
            )
    elif metric == "accuracy":
        guessed = 1 / vocab
        least = guessed + view.number("accuracy_above_chance_min") * (1 - guessed)
        if bars["minimum"] < least:
            yield view.fail(
                "The quality bar cannot be missed: guessing meets it, or all but meets it.",
                at=at("/targets/quality/minimum"),
                expected=f"at least {least:.4g}",
                actual=bars["minimum"],
            )


def _is_bar(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
