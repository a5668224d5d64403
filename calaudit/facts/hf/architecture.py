"""One typed architecture from any ``config.json``."""

import re
from dataclasses import dataclass

from calaudit.facts.hf.attention import read_attention, read_layers
from calaudit.facts.hf.families import FAMILIES, Family
from calaudit.facts.hf.operators import read_activation, read_epsilon, read_norm, read_operator_changes
from calaudit.facts.hf.positions import Rope, read_placement
from calaudit.facts.hf.section import Section, is_count
from calaudit.facts.hf.variants import read_variants
from calaudit.model import Json

_INNER = (
    "text_config",
    "llm_config",
    "language_config",
    "language_model_config",
    "thinker_config",
    "decoder",
    "text_model",
)
_MEDIA = re.compile(r"(vision|visual|vit|vq|audio|speech|image|img|video|mm)(_|$)")
_OTHER_HEADS = ("Classification", "ForQuestionAnswering", "ForMaskedLM", "EncoderModel", "RewardModel")
_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts")
_ACTIVE = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "moe_top_k", "top_k_experts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moe:
    """Experts a layer has, and how many a token goes through; None where the config does not say."""

    experts: int | None
    active: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A decoder as its config describes it; None is what the config does not say.

    A model without attention has 0 heads. ``head_dim`` is the width of a query head, ``ffn`` that of one expert in a
    mixture of experts, ``max_position`` the longest context in tokens. ``variants``, ``attention_changes`` and
    ``operator_changes`` are the departures from a standard decoder, each in words. ``known`` says whether calaudit
    knows the model type, ``causal`` whether it is a decoder of its own, ``disputed`` what the config says in two ways.
    """

    model_type: str | None
    known: bool
    causal: bool
    custom_code: bool
    multimodal: bool
    recurrent: bool
    layers: int | None
    hidden: int | None
    q_heads: int | None
    kv_heads: int | None
    head_dim: int | None
    ffn: int | None
    vocab: int | None
    rope: Rope | None
    positions: str
    max_position: int | None
    norm: str | None
    activation: str | None
    attention: str | None
    moe: Moe | None
    tied_embeddings: bool | None
    variants: tuple[str, ...]
    attention_changes: tuple[str, ...]
    operator_changes: tuple[str, ...]
    norm_epsilon: float | None = None
    disputed: tuple[str, ...] = ()


def read_architecture(document: dict[str, Json]) -> Architecture:
    """Read the architecture of the language model that a config describes, wherever in it that stands."""
    root = Section(document)
    text, depth = text_model(root)
    model_type = text.text("model_type") or (root.text("model_type") if depth == 0 else None)
    family = FAMILIES.get(model_type or "")
    hidden = text.integer("hidden_size", "n_embd", "d_model", "embedding_dim", "dim")
    placement = read_placement(text, family, nested=depth > 0)
    heads = read_attention(text, family, placement, hidden=hidden, nested=depth > 0)
    multimodal = _is_multimodal(root, depth)
    changes = list(heads.new)
    if multimodal and model_type == "gemma3_text":
        changes.append("the tokens of one image see each other both ways")
    moe = _moe(text, family)
    tied = text.raw.get("tie_word_embeddings", root.raw.get("tie_word_embeddings"))
    return Architecture(
        model_type=model_type,
        known=family is not None,
        causal=_is_causal(root, text),
        custom_code=root.truthy("auto_map") or text.truthy("auto_map"),
        multimodal=multimodal,
        recurrent=family is not None and family.recurrent,
        layers=read_layers(text),
        hidden=hidden,
        q_heads=heads.q_heads,
        kv_heads=heads.kv_heads,
        head_dim=heads.head_dim,
        ffn=(_expert_ffn(text) if moe is not None else None) or _ffn(text, family, hidden),
        vocab=text.integer("vocab_size", "padded_vocab_size") or root.integer("vocab_size"),
        rope=placement.rope,
        positions=placement.positions,
        max_position=placement.max_position,
        norm=read_norm(text, family),
        activation=read_activation(text, family),
        attention="other" if changes and heads.kind != "latent" else heads.kind,
        moe=moe,
        tied_embeddings=tied if isinstance(tied, bool) else None,
        variants=tuple(dict.fromkeys((*placement.variants, *read_variants(text, root, family, heads.head_dim)))),
        attention_changes=tuple(changes),
        operator_changes=read_operator_changes(text, family),
        norm_epsilon=read_epsilon(text),
        disputed=placement.disputed,
    )


def text_model(root: Section) -> tuple[Section, int]:
    """The part that describes the language model, and how deep it stands."""
    found, depth = root, 0
    while depth < 4 and (inner := found.section(*_INNER)):
        found, depth = inner, depth + 1
    return found, depth


def _is_causal(root: Section, text: Section) -> bool:
    heads = [name for name in root.items("architectures") if isinstance(name, str)]
    other = bool(heads) and all(name.endswith(_OTHER_HEADS) for name in heads)
    return not (other or root.flag("is_encoder_decoder") or text.flag("is_encoder_decoder"))


def _is_multimodal(root: Section, depth: int) -> bool:
    if any(_MEDIA.match(name) and value not in (None, False) for name, value in root.raw.items()):
        return True
    names = [name for name in root.items("architectures") if isinstance(name, str)]
    return depth > 0 and (root.has("thinker_config") or any("ForConditionalGeneration" in name for name in names))


def _expert_ffn(text: Section) -> int | None:
    return text.integer("moe_intermediate_size", "expert_ffn_hidden_size")


def _ffn(text: Section, family: Family | None, hidden: int | None) -> int | None:
    stated = text.integer("intermediate_size", "ffn_dim", "ffn_hidden_size", "n_inner", "mlp_hidden_size")
    stated = stated or text.section("ffn_config").integer("ffn_hidden_size")
    ratio = text.number("expansion_ratio")
    if stated is None and ratio is not None and hidden is not None and 0 < ratio < 1e6:
        product = hidden * ratio
        return int(product) if product.is_integer() and is_count(int(product)) else None
    if stated is None and family is not None and family.ffn_factor is not None and hidden is not None:
        varied = any(isinstance(text.raw.get(name), list) for name in ("intermediate_size", "ffn_dim"))
        return None if varied else family.ffn_factor * hidden
    return stated


def _moe(text: Section, family: Family | None) -> Moe | None:
    inner = text.section("ffn_config")
    named = [text.raw.get(name) for name in _EXPERTS] + [inner.raw.get("moe_num_experts")]
    experts = [count for value in named if (count := _largest(value)) is not None]
    odd = any(value not in (None, 0, False) and _largest(value) is None for value in named)
    if max(experts, default=0) > 1 or odd or (family is not None and family.moe and not experts):
        active = [text.raw.get(name) for name in _ACTIVE] + [inner.raw.get("moe_top_k")]
        return Moe(
            experts=max(experts, default=0) or None,
            active=next((count for value in active if (count := _largest(value)) is not None), None),
        )
    return None


def _largest(value: Json) -> int | None:
    counts = [v for v in (value if isinstance(value, list) else [value]) if is_count(v)]
    return max(counts, default=None)
