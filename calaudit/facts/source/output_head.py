"""Whether the checkpoint's output head has the very values of its token embedding; the two are read for that alone."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.facts import Facts
from calaudit.facts.source.safetensors_header import PREFIX, Tensor
from calaudit.facts.source.weights import EMBEDDINGS, HEADS, Shard, Weights, named_matrices


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputHead:
    """The head: its name in the checkpoint, None where there is not exactly one; ``same`` None where that is not known.

    ``possible`` says whether any matrix besides the embedding has one row or column for each row of the embedding.
    """

    name: ClassVar[str] = "output_head"

    tensor: str | None
    same: bool | None
    possible: bool | None

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Compare the digests of both; MissingFact where a weight file cannot be read again."""
        weights = facts.get(Weights)
        if not weights.complete:
            return cls(tensor=None, same=None, possible=None)
        heads = [(s, t) for s in weights.shards for t in named_matrices(s.tensors, HEADS)]
        embeddings = [(s, t) for s in weights.shards for t in named_matrices(s.tensors, EMBEDDINGS)]
        if len(embeddings) != 1:
            return cls(tensor=None, same=None, possible=None)
        rows = embeddings[0][1].shape[0]
        others = [t for t in weights.tensors if len(t.shape) == 2 and t is not embeddings[0][1]]
        possible = any(rows in tensor.shape for tensor in others)
        if len(heads) != 1:
            return cls(tensor=None, same=None, possible=possible)
        (shard, head), (beside, embedding) = heads[0], embeddings[0]
        alike = (head.dtype, head.shape) == (embedding.dtype, embedding.shape)
        same = alike and _digest(facts, shard, head) == _digest(facts, beside, embedding)
        return cls(tensor=head.name, same=same, possible=possible)


def _digest(facts: Facts, shard: Shard, tensor: Tensor) -> bytes:
    start = PREFIX + int.from_bytes(facts.evidence.head(shard.path, PREFIX), "little")
    return _of_extent(facts.evidence.chunks(shard.path), start + tensor.begin, start + tensor.end)


def _of_extent(chunks: Iterable[memoryview], begin: int, end: int) -> bytes:
    """The digest of an extent; all chunks are read, so that the file's digest is checked."""
    digest, at = hashlib.sha256(), 0
    for chunk in chunks:
        digest.update(chunk[max(0, begin - at) : max(0, end - at)])
        at += len(chunk)
    return digest.digest()
