"""The reference itself meets the quality that the port must reach.

Why: A port is never better than its reference. If FP32 misses the bar, no quantization will reach it, and every gate
that follows is work for nothing.
Fix: Choose another model, or let the model owner correct targets.quality in source-manifest.json and decide again.
"""

import math
from collections.abc import Iterator
from typing import Any

from calaudit.checks import View, check
from calaudit.facts.reference.quality import SCORES, QualityFact
from calaudit.facts.reference.runs import FLOAT32
from calaudit.facts.source.manifest import SourceManifest
from calaudit.model import Location, Result


@check("reference-below-bar", gate="G1", back_to="stop, or another model")
def reference_below_bar(view: View) -> Iterator[Result]:
    """Compare the recomputed FP32 score with the target of the manifest."""
    target = view.fact(SourceManifest).document["targets"].get("quality")
    bar = Location(path="00-source/source-manifest.json", pointer="/targets/quality")
    if target is None:
        yield view.open(
            "The manifest sets no quality target, so nothing says whether the reference is good enough.", at=bar
        )
        return
    score = {"accuracy": (b := view.fact(QualityFact).of(FLOAT32)).accuracy, "perplexity": b.perplexity}.get(
        target["metric"]
    )
    if score is None:
        yield view.open(f"The answers of the reference do not give its {target['metric']}.", at=SCORES)
        return
    yield from _blind(view, target, bar)
    limits = {name: target[name] for name in ("minimum", "maximum") if target.get(name) is not None}
    for name, limit in view.each(limits.items()):
        met = score >= limit if name == "minimum" else score <= limit
        if not (met and math.isfinite(limit) and math.isfinite(score)):
            yield view.fail(
                f"The FP32 reference misses the port's own target of {target['metric']}.",
                at=bar,
                expected=f"{name} {limit:g}",
                actual=f"{score:.6g}",
            )


def _blind(view: View, target: dict[str, Any], bar: Location) -> Iterator[Result]:
    """An accuracy that one and the same answer reaches is a bar that every port clears."""
    commonest = view.fact(QualityFact).commonest
    minimum = target.get("minimum")
    if target["metric"] == "accuracy" and commonest is not None and minimum is not None and minimum <= commonest:
        yield view.fail(
            "Giving the commonest answer to every question of the quality set meets the target of accuracy.",
            at=bar,
            expected=f"a minimum above {commonest:.4g}",
            actual=minimum,
        )
