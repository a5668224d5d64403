"""The target contexts are within what the model was made for.

Why: Beyond its positions a model answers nonsense, or its table ends; a compiled graph hides that until it serves.
Fix: Lower targets.context to max_position_embeddings and to the tokenizer's model_max_length, or take a checkpoint
trained for longer contexts.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import CONFIG, SourceManifest, at
from calaudit.facts.tokens.loading import LoadingFact
from calaudit.facts.tokens.special_tokens import TOKENIZER_CONFIG
from calaudit.model import Location, Result


@check("context-exceeds-model", gate="G0", kinds=("pass", "fail", "open", "notApplicable"))
def context_exceeds_model(view: View) -> Iterator[Result]:
    """Compare each target context with the longest one of the config, and of the tokenizer's."""
    architecture = view.fact(ModelConfig).architecture
    longest = architecture.max_position
    if longest is None and architecture.positions in ("none", "alibi"):
        yield view.not_applicable("The model has no positions that end.")
        return
    if longest is None:
        yield view.open("The config does not say the longest context of the model.", at=CONFIG)
        return
    for n, context in enumerate(view.each(view.fact(SourceManifest).context)):
        if context > longest:
            yield view.fail(
                "The target context is longer than the model's positions.",
                at=at(f"/targets/context/{n}"),
                expected=f"at most {longest} tokens",
                actual=context,
            )
    yield from _tokenizer(view, longest)


def _tokenizer(view: View, positions: int) -> Iterator[Result]:
    """A text beyond model_max_length is cut or refused by whoever keeps to it."""
    longest, context = view.fact(LoadingFact).longest, min(positions, max(view.fact(SourceManifest).context))
    if longest is not None and longest < context:
        yield view.fail(
            "The tokenizer's model_max_length is shorter than the longest target context.",
            at=Location(path=TOKENIZER_CONFIG, pointer="/model_max_length"),
            expected=f"at least {context}",
            actual=longest,
        )
