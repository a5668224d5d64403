"""The manifest describes the model that is there.

Why: Every later gate sizes its buffers, profiles and caches by these numbers; a wrong one surfaces as a wrong token.
Fix: Take the numbers from hf-config/config.json and the checkpoint; `calaudit init` does.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g00_intake._architecture import differences, members
from calaudit.checks.g00_intake._checkpoint import compare_checkpoint
from calaudit.checks.g00_intake._config import compare_config
from calaudit.facts.hf.architecture import Architecture
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import CONFIG, SourceManifest, at
from calaudit.model import Result


@check("architecture-inconsistent", gate="G0")
def architecture_inconsistent(view: View) -> Iterator[Result]:
    """Compare manifest and config, the config with itself, and both with the checkpoint."""
    source, config = view.fact(SourceManifest), view.fact(ModelConfig)
    view.saw(members())
    for found in differences(source.architecture, config.architecture, code_files=config.code_files):
        place = at(f"/architecture{found.pointer}")
        if found.expected is None:
            yield view.open(f"{found.message} State it in the config: nothing else can confirm it.", at=place)
        else:
            yield view.fail(found.message, at=place, expected=found.expected, actual=found.actual)
    yield from _heads(view, config.architecture)
    vocab = config.architecture.vocab
    if vocab is not None and source.tokenizer_vocab > vocab:
        yield view.fail(
            "The tokenizer has more ids than the embedding has rows.",
            at=at("/tokenizer/vocab_size"),
            expected=f"at most {vocab}",
            actual=source.tokenizer_vocab,
        )
    yield from compare_config(view)
    yield from compare_checkpoint(view)


def _heads(view: View, config: Architecture) -> Iterator[Result]:
    view.saw()
    if config.q_heads and config.kv_heads and config.q_heads % config.kv_heads:
        yield view.fail(
            "The query heads do not share the KV heads evenly.",
            at=CONFIG,
            expected=f"a multiple of {config.kv_heads}",
            actual=config.q_heads,
        )
    if config.q_heads and config.hidden and config.head_dim is None and config.hidden % config.q_heads:
        yield view.fail(
            "The config states no head_dim, and hidden is not a multiple of the query heads.",
            at=CONFIG,
            expected=f"a multiple of {config.q_heads}",
            actual=config.hidden,
        )
    if config.moe and config.moe.experts and config.moe.active and config.moe.active > config.moe.experts:
        yield view.fail(
            "A token goes through more experts than there are.",
            at=CONFIG,
            expected=f"at most {config.moe.experts}",
            actual=config.moe.active,
        )
