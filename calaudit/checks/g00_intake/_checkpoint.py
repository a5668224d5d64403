"""How the checkpoint itself is compared with the manifest: a config beside the wrong weights passes every digest."""

from collections.abc import Iterator
from dataclasses import dataclass

from calaudit.checks import View
from calaudit.facts.hf_config import ModelConfig
from calaudit.facts.source import SourceManifest, at
from calaudit.facts.weights import Weights
from calaudit.model import Result


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
    if source.parameters is None:
        yield view.fail("parameters is missing.", at=at("/architecture"), expected=weights.parameters)


def _counts(source: SourceManifest, config: ModelConfig, weights: Weights) -> Iterator[_Count]:
    vocab, hidden = source.architecture.get("vocab"), source.architecture["hidden"]
    yield _Count("embedding rows", "vocab", vocab, weights.embedding_rows)
    yield _Count("rows of the output head", "vocab", vocab, weights.head_rows)
    if weights.embedding_width != config.document.get("word_embed_proj_dim"):
        yield _Count("embedding columns", "hidden", hidden, weights.embedding_width)
    yield _Count("parameters", "parameters", source.parameters, weights.parameters)
