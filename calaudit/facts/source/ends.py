"""Both ends of the network: what makes vectors of tokens, and what makes logits of the last layer's output.

Embedding table, final norm and output head are few tensors and simple arithmetic, so a reader can compute with them
what an implementation must have computed. What a family does differently, and calaudit does not know of, is left out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calaudit.errors import MissingFact
from calaudit.evidence import Evidence
from calaudit.facts import Facts
from calaudit.facts.hf.architecture import Architecture, text_model
from calaudit.facts.hf.section import Section
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.safetensors_header import PREFIX, Tensor
from calaudit.facts.source.weights import EMBEDDINGS, HEADS, Shard, Weights, named_matrices
from calaudit.model import Location

if TYPE_CHECKING:
    from calaudit.numerics import Array

TENSOR_MAX = 1 << 30
"""Bytes of one source tensor that are held in memory."""

_LAYOUTS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_NORM = re.compile(r"(?:[A-Za-z_]+\.)*norm\.weight")
"""The norm behind the last layer: the names of those inside layers hold a number."""
_HEAD_NAMES = tuple(name.removesuffix("weight") for name in HEADS)
_SCALES = ("embedding_multiplier", "scale_emb", "embedding_scale")
_CAPS = ("final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")
_UNKNOWN_SCALES = ("lm_head_multiplier", "dim_model_base")
_EPSILONS = ("rms_norm_eps", "rms_norm_epsilon", "norm_eps", "norm_epsilon", "layer_norm_epsilon", "layer_norm_eps")
_USUAL_EPSILONS = (1e-6, 1e-5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One tensor of the source with its bytes."""

    tensor: Tensor
    data: bytearray

    def __getitem__(self, which: "slice | Sequence[int]") -> "Array":
        """Some rows, as float32."""
        import numpy as np  # noqa: PLC0415 - heavy

        raw = np.frombuffer(self.data, _LAYOUTS[self.tensor.dtype]).reshape(self.tensor.shape)[which]
        found: Array = (raw.astype("<u4") << 16).view("<f4") if self.tensor.dtype == "BF16" else raw.astype("<f4")
        return found


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The tensors, and the numbers that the config gives them; more than one of anything: any may be the one.

    What is empty is not known. ``norm_offset`` is added to the norm's weight, logits are multiplied with
    ``logit_factor`` and, where there is a ``logit_cap``, bounded softly by it.
    """

    embeddings: tuple[Stored, ...]
    scales: tuple[float, ...]
    norms: tuple[Stored, ...]
    norm_offset: float
    epsilons: tuple[float, ...]
    heads: tuple[Stored, ...]
    logit_factor: float
    logit_cap: float | None


def read_ends(facts: Facts) -> Ends | str:
    """Read them; in words why not, where the source's weights are not in the port or the model is not a known one.

    Raises:
        MissingFact: config or weights cannot be read, or a tensor is too large to be held in memory.
    """
    weights, config = facts.get(Weights), facts.get(ModelConfig)
    architecture = config.architecture
    if not weights.shards:
        return "The source's weights are kept elsewhere."
    if not architecture.known or architecture.custom_code or architecture.recurrent:
        return f"How a {architecture.model_type or 'model without a type'} embeds tokens is not known."
    text, _ = text_model(Section(config.document))
    tensors = [tensor for tensor in weights.tensors if tensor.dtype in _LAYOUTS]
    scales = tuple(_scales(text, architecture))
    embeddings = [t for t in named_matrices(tensors, EMBEDDINGS) if t.shape[1] == architecture.hidden]
    norms = [t for t in tensors if _NORM.fullmatch(t.name) and t.shape == (architecture.hidden,)]
    if architecture.norm != "rmsnorm" or len(norms) > 1:
        norms = []
    heads = _heads(weights, text, architecture, embeddings)
    kept = _read(facts.evidence, weights.shards, {t.name for t in (*(embeddings if scales else ()), *norms, *heads)})
    factor = (text.number("logit_scale") or 1.0) / (text.number("logits_scaling") or 1.0)
    epsilon = text.number(*_EPSILONS)
    return Ends(
        embeddings=tuple(kept[t.name] for t in embeddings) if scales else (),
        scales=scales,
        norms=tuple(kept[t.name] for t in norms),
        norm_offset=float("RMSNorm weights are offset by one" in architecture.operator_changes),
        epsilons=_USUAL_EPSILONS if epsilon is None else (epsilon,),
        heads=tuple(kept[t.name] for t in heads),
        logit_factor=factor,
        logit_cap=text.number(*_CAPS) or None,
    )


def _scales(text: Section, architecture: Architecture) -> Iterator[float]:
    """What an embedding may be multiplied with; nothing where more is done to it than that."""
    if architecture.positions != "rope" or "embeddings are projected" in architecture.variants:
        return
    yield 1.0  # kept before it is scaled
    if "embeddings are scaled by the square root of hidden" in architecture.variants and architecture.hidden:
        yield float(architecture.hidden) ** 0.5
    yield from (scale for name in _SCALES if (scale := text.number(name)) not in (None, 0.0, 1.0))


def _heads(
    weights: Weights, text: Section, architecture: Architecture, embeddings: Iterable[Tensor]
) -> tuple[Tensor, ...]:
    """The matrices that may make the logits; none where more than a factor and a bound is done to these."""
    named = [t for t in weights.tensors if _is_of_head(t.name)]
    found = [t for t in named_matrices(named, HEADS) if t.dtype in _LAYOUTS and t.shape[1] == architecture.hidden]
    scaled = text.has(*_UNKNOWN_SCALES) or (text.has("logit_scale") and text.number("logit_scale") is None)
    if scaled or len(found) < len(named) or "embeddings are projected" in architecture.variants:
        return ()
    unsaid = architecture.tied_embeddings is None and weights.complete and not found
    tied = architecture.tied_embeddings is True or unsaid
    return (*found, *(embeddings if tied else ()))


def _is_of_head(name: str) -> bool:
    """Whether a tensor belongs to the output head: also a bias, or the parts of a quantised matrix."""
    return any(name.startswith(head) or f".{head}" in name for head in _HEAD_NAMES)


def _read(evidence: Evidence, shards: Iterable[Shard], names: set[str]) -> dict[str, Stored]:
    found: dict[str, Stored] = {}
    for shard in shards:
        wanted = [t for t in shard.tensors if t.name in names]
        for tensor in wanted:
            if tensor.end - tensor.begin > TENSOR_MAX:
                told = f"The tensor {tensor.name!r} is too large to be compared with the golden tensors."
                raise MissingFact(told, at=Location(path=shard.path))
        kept = [Stored(tensor=t, data=bytearray(t.end - t.begin)) for t in wanted]
        if kept:
            _fill(evidence, shard.path, kept)
        found.update((stored.tensor.name, stored) for stored in kept)
    return found


def _fill(evidence: Evidence, path: str, kept: Iterable[Stored]) -> None:
    """Copy bytes out of a file; all of it is read, so that its digest is checked."""
    start, at = PREFIX + int.from_bytes(evidence.head(path, PREFIX), "little"), 0
    for chunk in evidence.chunks(path):
        for stored in kept:
            first = start + stored.tensor.begin
            begin, end = max(first, at), min(start + stored.tensor.end, at + len(chunk))
            if begin < end:
                stored.data[begin - first : end - first] = chunk[begin - at : end - at]
        at += len(chunk)
