"""Which step comes after which: one that reads what another writes."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from calaudit.contract.globs import Glob
from calaudit.errors import UsageError
from calaudit.execute.nouns import Step

__all__ = ["in_order", "upstream"]


def upstream(steps: Sequence[Step]) -> Mapping[str, tuple[str, ...]]:
    """For each step the steps whose products it reads.

    Raises:
        UsageError: two steps write one path.
    """
    for one, other in combinations(steps, 2):
        clash = _meeting(one.products, other.products)
        if clash:
            raise UsageError(
                f"port.yaml: the steps {one.name} and {other.name} write the same files ({clash[0]} and {clash[1]}); "
                "each file is the product of one step."
            )
    return {
        step.name: tuple(o.name for o in steps if o is not step and _meeting(o.products, step.inputs)) for step in steps
    }


def in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, each after all that it depends on; otherwise in the order of the manifest.

    Raises:
        UsageError: steps wait for each other, or two write one path.
    """
    waits = {name: set(above) for name, above in upstream(steps).items()}
    ordered: list[Step] = []
    left = list(steps)
    while left:
        ready = next((step for step in left if not waits[step.name]), None)
        if ready is None:
            raise UsageError(f"port.yaml: these steps wait for each other: {', '.join(_circle(waits, left))}.")
        left.remove(ready)
        ordered.append(ready)
        for above in waits.values():
            above.discard(ready.name)
    return tuple(ordered)


def _circle(waits: Mapping[str, set[str]], left: Sequence[Step]) -> list[str]:
    """One circle among the steps that are left: each of them waits for another that is left."""
    path = [left[0].name]
    while True:
        following = min(waits[path[-1]])
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)


def _meeting(left: Iterable[str], right: Sequence[str]) -> tuple[str, str] | None:
    return next(((a, b) for a in left for b in right if Glob(a).overlaps(Glob(b))), None)
