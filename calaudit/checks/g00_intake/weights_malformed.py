"""Every safetensors file is sound, and an index tells the truth about its shards.

Why: Bytes that no tensor covers can hide anything, and readers differ in what they make of overlaps, gaps and doubles.
Fix: Write the checkpoint again with the safetensors library, and the index with it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.weights import Index, Shard, Weights
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
        for tensor in shard.tensors:
            first = owners.setdefault(tensor.name, shard.path)
            if first != shard.path:
                yield view.fail(
                    f"Tensor {tensor.name} is also in {first}.", at=shard.path, expected="one file a tensor"
                )
    if view.examined == 0:
        yield view.not_applicable("No safetensors file is in the port.")


def _compare(view: View, index: Index, shards: dict[str, Shard]) -> Iterator[Result]:
    held = {path: {tensor.name for tensor in shard.tensors} for path, shard in shards.items()}
    for tensor, path in index.files.items():
        if path in held and tensor not in held[path]:
            yield view.fail(f"The index says that {path} holds {tensor}, and it does not.", at=index.path)
    for path in sorted(set(index.files.values()) & held.keys()):
        for tensor in sorted(held[path] - index.files.keys()):
            yield view.fail(f"{path} holds {tensor}, which the index does not name.", at=path)
