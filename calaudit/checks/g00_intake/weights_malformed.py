"""Every safetensors file is sound, and an index tells the truth about its shards.

Why: Bytes that no tensor covers can hide anything, and readers differ in what they make of overlaps, gaps and doubles.
Fix: Write the checkpoint again with the safetensors library, and the index with it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.weights import Index, Shard, Weights
from calaudit.model import Result


@check("weights-malformed", gate="G0", kinds=("pass", "fail", "open", "notApplicable"))
def weights_malformed(view: View) -> Iterator[Result]:
    """Read every header; compare the tensors of each shard with the index."""
    weights = view.fact(Weights)
    for fault in view.each(weights.faults):
        yield view.fail(f"The file is not sound. {fault.message}", at=fault.at)
    shards = {shard.path: shard for shard in view.each(weights.shards)}
    for index in view.each(weights.indexes):
        yield from _compare(view, index, shards)
    owners: dict[str, str] = {}
    for shard in weights.shards:
        yield from _twice(view, shard, owners)
    if view.examined == 0:
        yield view.not_applicable("No safetensors file is in the port.")


def _twice(view: View, shard: Shard, owners: dict[str, str]) -> Iterator[Result]:
    again: dict[str, list[str]] = {}
    for tensor in shard.tensors:
        first = owners.setdefault(tensor.name, shard.path)
        if first != shard.path:
            again.setdefault(first, []).append(tensor.name)
    for first, names in again.items():
        yield view.fail(
            f"The file holds {len(names)} tensor(s) that are also in {first}, such as {names[0]}.",
            at=shard.path,
            expected="one file a tensor",
        )


def _compare(view: View, index: Index, shards: dict[str, Shard]) -> Iterator[Result]:
    for path in sorted(set(index.files.values()) & shards.keys()):
        held = {tensor.name for tensor in shards[path].tensors}
        named = {tensor for tensor, file in index.files.items() if file == path}
        for tensor in sorted(named - held):
            yield view.fail(f"The index says that {path} holds {tensor}, and it does not.", at=index.path)
        unnamed = sorted(held - index.files.keys())
        if unnamed:
            yield view.fail(
                f"The file holds {len(unnamed)} tensor(s) that the index does not name, such as {unnamed[0]}.", at=path
            )
