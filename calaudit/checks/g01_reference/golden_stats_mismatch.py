"""The golden tensors are what their index says: digest, type, shape, statistics; all values are finite.

Why: The index is what people read, the files are what the port is compared with. NaN in a golden tensor makes every
comparison pass or fail for no reason, and a tensor of one value everywhere says nothing of the model.
Fix: Dump the tensors again with the index, from one run of the reference.
"""

import math
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.tensors.ends import EMBEDDING
from calaudit.facts.tensors.golden import STATS, GoldenFact, GoldenTensor
from calaudit.model import Location, Result

RELATIVE = 1e-9
"""Float64 sums of the same values in another order differ by less; of the largest value where a sum cancels."""


@check("golden-stats-mismatch", gate="G1")
def golden_stats_mismatch(view: View) -> Iterator[Result]:
    """Read every tensor and compute its statistics in float64."""
    golden = view.fact(GoldenFact)
    for key in golden.duplicates:
        yield view.fail(f"The index names this tensor more than once: {key}.", at=golden.by_key[key].entry.at)
    paths: set[str] = set()
    for tensor in view.each(golden.tensors):
        if tensor.entry.path in paths:
            yield view.fail(f"Another entry of the index names the same file {tensor.entry.path}.", at=tensor.entry.at)
        paths.add(tensor.entry.path)
        yield from _judge(view, tensor)


def _judge(view: View, tensor: GoldenTensor) -> Iterator[Result]:
    entry = tensor.entry
    if tensor.missing is not None:
        yield view.open(tensor.missing.message, at=tensor.missing.at or Location(path=entry.path))
        return
    if tensor.sha256 != entry.sha256:
        yield view.fail(
            f"The file of {entry.key} has another digest than the index says.",
            at=entry.at,
            expected=entry.sha256,
            actual=tensor.sha256,
        )
    if tensor.faulty is not None:
        yield view.fail(f"The file of {entry.key} is no tensor: {tensor.faulty}", at=entry.path)
        return
    found, said = (f"{tensor.dtype}{list(tensor.shape)}", f"{entry.dtype}{list(entry.shape)}")
    if found != said:
        yield view.fail(
            f"{entry.key} has another type or shape than the index says.", at=entry.at, expected=said, actual=found
        )
    if tensor.stats is None:
        yield view.fail(f"{entry.key} has values that are not finite.", at=entry.path)
        return
    # A token that was never trained may have an embedding of zeros.
    if tensor.stats["min"] == tensor.stats["max"] and entry.key.name != EMBEDDING and math.prod(tensor.shape) > 1:
        yield view.fail(
            f"{entry.key} has one value everywhere, which no layer computes; dump it again.",
            at=entry.at,
            expected="different values",
            actual=tensor.stats["min"],
        )
    scale = max(abs(tensor.stats["min"]), abs(tensor.stats["max"]))
    for name in STATS:
        claimed, actual = entry.stats[name], tensor.stats[name]
        if not math.isclose(claimed, actual, rel_tol=RELATIVE, abs_tol=RELATIVE * scale):
            yield view.fail(
                f"The {name} of {entry.key} is not what the index says.",
                at=Location(path=entry.at.path, pointer=f"{entry.at.pointer}/stats/{name}"),
                expected=repr(actual),
                actual=repr(claimed),
            )
