"""Small departures from the standard decoder that a config states."""

import math
from collections.abc import Iterator

from calaudit.facts.hf.families import Family
from calaudit.facts.hf.section import Section

_PARALLEL = "attention and FFN run in parallel"
_FLAGS = (
    (("use_parallel_residual", "parallel_attn"), _PARALLEL),
    (("use_qk_norm", "qk_layernorm", "qk_norm", "qk_ln"), "query and key are normalised"),
    (("scale_attn_by_inverse_layer_idx",), "attention is scaled by the layer's number"),
    (("apply_residual_connection_post_layernorm",), "the residual is taken after the norm"),
    (("use_post_norm", "use_sandwich_norm", "norm_after"), "norms after attention and FFN"),
)
_MULTIPLIERS = (
    "embedding_multiplier", "residual_multiplier", "logits_scaling", "logit_scale", "scale_emb", "scale_depth",
    "lm_head_multiplier", "embedding_scale", "key_multiplier",
)  # fmt: skip
_CAPS = ("attn_logit_softcapping", "final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")


def read_variants(text: Section, root: Section, family: Family | None, head_dim: int | None) -> tuple[str, ...]:
    """Every departure, in words; RoPE's are told by :mod:`calaudit.facts.hf.positions`."""
    found = list(family.variants) if family is not None else []
    found += [words for names, words in _FLAGS if text.flag(*names)]
    if text.raw.get("do_layer_norm_before") is False:
        found.append("norms after attention and FFN")
    scaled = [name for name in _MULTIPLIERS if (value := text.number(name)) is not None and value != 1.0]
    if scaled:
        found.append(f"outputs are scaled ({', '.join(scaled)})")
    if any((text.number(name) or 0.0) > 0.0 for name in _CAPS):
        found.append("logits are soft-capped")
    if _is_rescaled(text, head_dim):
        found.append("attention scores are not scaled by the head dimension")
    return (*found, *_rarer(text, root))


def _rarer(text: Section, root: Section) -> Iterator[str]:
    clips = (text.number("clip_qkv"), text.section("attn_config").number("clip_qkv"))
    if any(clip is not None and clip > 0.0 for clip in clips):
        yield "query, key and value are clipped"
    hidden, width = text.integer("hidden_size"), text.integer("word_embed_proj_dim")
    if hidden is not None and width is not None and hidden != width:
        yield "embeddings are projected"
    if text.integer("num_nextn_predict_layers") is not None:
        yield "layers that predict further tokens"
    if any(
        isinstance(text.raw.get(name), list) for name in ("hidden_size", "intermediate_size", "num_attention_heads")
    ):
        yield "layers of different sizes"
    if text.integer("num_kv_shared_layers") is not None:
        yield "layers share one KV cache"
    if root.has("quantization_config") or text.has("quantization_config"):
        yield "the checkpoint is already quantised"


def _is_rescaled(text: Section, head_dim: int | None) -> bool:
    multiplier, scalar = text.number("attention_multiplier"), text.number("query_pre_attn_scalar")
    if multiplier is not None:
        return head_dim is None or not math.isclose(multiplier, head_dim**-0.5, rel_tol=1e-6)
    return scalar is not None and scalar != head_dim
