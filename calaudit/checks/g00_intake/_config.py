"""How the model's config is compared with itself and with the checkpoint beside it: each loader believes another one.

A flag of the config that the checkpoint contradicts is found by the names of tensors, and only in families whose code
reads the flag; what was packed or renamed is left to whoever compares results.
"""

import re
from collections.abc import Iterator

from calaudit.checks import View
from calaudit.facts.hf.families import FAMILIES
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import CONFIG
from calaudit.facts.source.output_head import OutputHead
from calaudit.facts.source.weights import Weights
from calaudit.model import Location, Result

_ATTENTION_BIAS = """
arcee cohere cohere2 diffllama gemma gemma2 gemma3_text glm glm4 granite granitemoe helium llama nemotron olmo olmo2
olmo3 olmoe qwen3 qwen3_moe seed_oss smollm3
"""
_MLP_BIAS = "arcee diffllama granite helium llama nemotron seed_oss smollm3"
_BIASED = {
    "attention_bias": (".q_proj", frozenset(_ATTENTION_BIAS.split())),
    "mlp_bias": (".up_proj", frozenset(_MLP_BIAS.split())),
}
"""Which projection each flag gives a bias to, and the families whose code reads it."""
_CLASS = re.compile(r"(.+?)(?:For[A-Z]\w*|LMHead\w*|DoubleHeads\w*|PreTrainedModel|Model)", re.ASCII)


def compare_config(view: View) -> Iterator[Result]:
    """Compare what the config says twice, and what it says of tensors that the checkpoint has or lacks."""
    config = view.fact(ModelConfig)
    for disputed in view.each(config.architecture.disputed):
        yield view.open(f"The config says two things of RoPE: {disputed}. Leave one of them.", at=CONFIG)
    yield from _classes(view, config)
    if view.fact(Weights).complete and config.document.get("quantization_config") is None:
        yield from _head(view, config)
        yield from _biases(view, config)


def _classes(view: View, config: ModelConfig) -> Iterator[Result]:
    """Loaders go by the class (``architectures``) or by the model type: both must be of one family."""
    kind, named = config.architecture.model_type, config.document.get("architectures")
    if kind is None or kind != config.document.get("model_type") or not isinstance(named, list):
        return  # a wrapper's class is not its language model's
    families = {_plain(name): name for name in FAMILIES}
    own = {_plain(kind), _plain(kind).removesuffix("text")}
    for n, name in enumerate(view.each(named)):
        match = _CLASS.fullmatch(name) if isinstance(name, str) else None
        said = "" if match is None else _plain(match[1])
        if said in families and said not in own:
            yield view.fail(
                f"The config names a class of {families[said]} beside the model type {kind}.",
                at=Location(path=CONFIG, pointer=f"/architectures/{n}"),
                expected=f"a class of {kind}",
                actual=name,
            )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _head(view: View, config: ModelConfig) -> Iterator[Result]:
    tied = config.architecture.tied_embeddings
    at = Location(path=CONFIG, pointer="/tie_word_embeddings")
    if tied is None:
        return
    head = view.fact(OutputHead)
    view.saw()
    if tied and head.same is False:
        yield view.fail(
            f"The config ties the output head to the embedding, and the checkpoint's {head.tensor} has other values.",
            at=at,
            expected="false, or a checkpoint without a head of its own",
            actual="true",
        )
    elif not tied and config.architecture.known and head.tensor is None and head.possible is False:
        yield view.fail(
            "The config gives the output head weights of its own, and the checkpoint has none.",
            at=at,
            expected="true, or a checkpoint with an output head",
            actual="false",
        )


def _biases(view: View, config: ModelConfig) -> Iterator[Result]:
    found = config.architecture
    for flag, (projection, families) in _BIASED.items():
        stated = config.document.get(flag)
        if not isinstance(stated, bool) or found.model_type not in families or found.attention == "latent":
            continue
        names = [tensor.name for tensor in view.fact(Weights).tensors]
        matrices = sum(name.endswith(f"{projection}.weight") for name in names)
        biases = sum(name.endswith(f"{projection}.bias") for name in names)
        view.saw()
        if matrices and biases != (matrices if stated else 0):
            yield view.fail(
                f"The config says {flag} = {str(stated).lower()}, and {biases} of the checkpoint's {matrices} matrices "
                f"*{projection}.weight have a bias beside them.",
                at=Location(path=CONFIG, pointer=f"/{flag}"),
                expected="true" if biases else "false",
                actual=str(stated).lower(),
            )
