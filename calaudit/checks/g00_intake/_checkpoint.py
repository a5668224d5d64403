"""How the checkpoint itself is compared with the manifest: a config beside the wrong weights passes every digest."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from calaudit.checks import View
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.facts.source.weights import Weights
from calaudit.model import Result

_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,5})\.", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Count:
    what: str
    member: str
    stated: int | None
    counted: int | None


def compare_checkpoint(view: View) -> Iterator[Result]:
    """Compare rows and columns of the embedding, rows of the output head, and the number of parameters."""
    source, config, weights = view.fact(SourceManifest), view.fact(ModelConfig), view.fact(Weights)
    if not weights.complete:
        yield view.open(
            "Not every weight file is in the port and sound, so nothing shows the shape of the checkpoint.",
            at=at("/files"),
        )
        return
    if config.document.get("quantization_config") is not None:
        yield view.open(
            "The checkpoint is quantised: its tensors are packed, so their shapes do not tell.", at=at("/files")
        )
        return
    if weights.embedding_rows is None:
        yield view.open("No one matrix of the checkpoint is known to be the token embedding.", at=at("/files"))
    for count in view.each(_counts(source, config, weights)):
        if count.counted is not None and count.stated is not None and count.counted != count.stated:
            yield view.fail(
                f"The checkpoint has another number of {count.what} than the manifest says.",
                at=at(f"/architecture/{count.member}"),
                expected=count.counted,
                actual=count.stated,
            )
    held = set(_layers(weights))
    absent = [n for n in range(source.architecture["layers"]) if held and n not in held]
    if absent:
        yield view.fail(
            f"The checkpoint has no tensor of {len(absent)} of its layers, such as layer {absent[0]}.",
            at=at("/architecture/layers"),
            expected=len(held),
            actual=source.architecture["layers"],
        )
    if source.parameters is None:
        yield view.fail("parameters is missing.", at=at("/architecture"), expected=weights.parameters)


def _counts(source: SourceManifest, config: ModelConfig, weights: Weights) -> Iterator[_Count]:
    vocab, hidden = source.architecture.get("vocab"), source.architecture["hidden"]
    yield _Count("embedding rows", "vocab", vocab, weights.embedding_rows)
    yield _Count("rows of the output head", "vocab", vocab, weights.head_rows)
    if weights.embedding_width != config.document.get("word_embed_proj_dim"):
        yield _Count("embedding columns", "hidden", hidden, weights.embedding_width)
    yield _Count("parameters", "parameters", source.parameters, weights.parameters)
    stated, found = source.architecture, config.architecture
    if not found.known or found.recurrent or found.attention_changes:
        return  # projections of these have other shapes for a reason
    for ending, member, rows in (
        ("q_proj.weight", "q_heads", stated["q_heads"] * stated["head_dim"]),
        ("k_proj.weight", "kv_heads", stated["kv_heads"] * stated["head_dim"]),
        ("v_proj.weight", "kv_heads", stated["kv_heads"] * stated["head_dim"]),
        ("up_proj.weight", "ffn", stated.get("ffn")),
    ):
        if member != "ffn" or found.moe is None:
            yield _Count(f"rows of {ending}", member, rows, _other_rows(weights, ending, rows))


def _other_rows(weights: Weights, ending: str, stated: int | None) -> int | None:
    """The rows of the matrices of this name: a number that is not the stated one, if there is one."""
    found = {tensor.shape[0] for tensor in weights.tensors if tensor.name.endswith(ending) and len(tensor.shape) == 2}
    return min(found - {stated}, default=stated if found else None)


def _layers(weights: Weights) -> Iterator[int]:
    for tensor in weights.tensors:
        match = _LAYER.search(tensor.name)
        if match is not None:
            yield int(match[1])
