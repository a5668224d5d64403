"""What is known of model families and not written in their configs.

A family is a set of ``model_type`` values whose modelling code was read in transformers. A type that is not here is an
unknown decoder: it never counts as standard.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Positions = Literal["rope", "learned", "alibi", "none", "unknown"]

_QK = "query and key are normalised"
_PARALLEL = "attention and FFN run in parallel"
_SANDWICH = "norms after attention and FFN"
_INTERLEAVED = "RoPE rotates interleaved pairs"
_LEARNED = "learned absolute positions instead of RoPE"
_EMBED = "embeddings are scaled by the square root of hidden"
_UNIT = "RMSNorm weights are offset by one"
_NO_BIAS = "LayerNorm without bias"
_GATED = "a norm that is gated by another branch"
_SSM = "state-space layers instead of attention"
_LINEAR = "linear-attention layers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family.

    ``variants`` are its departures from the standard decoder (pre-norm, RoPE, one residual stream, MLP);
    ``norm_changes`` changed parameters of norms or activations; ``attention`` what no stock attention operator with a
    causal or windowed mask computes. ``recurrent`` marks layers with a state instead of a KV cache, ``headless``
    families without any attention, and ``ffn_factor`` how many times hidden the FFN is where a config does not say.
    """

    norm: str = "rmsnorm"
    activation: str | None = None
    positions: Positions = "rope"
    variants: tuple[str, ...] = ()
    norm_changes: tuple[str, ...] = ()
    attention: tuple[str, ...] = ()
    moe: bool = False
    recurrent: bool = False
    headless: bool = False
    ffn_factor: int | None = None


def _table(*rows: tuple[str, Family]) -> Mapping[str, Family]:
    return MappingProxyType({name: family for names, family in rows for name in names.split()})


def _gpt(*variants: str, activation: str | None = None, positions: Positions = "learned") -> Family:
    return Family(norm="layernorm", activation=activation, positions=positions, variants=variants, ffn_factor=4)


def _moe(*variants: str, norm: str = "rmsnorm", norm_changes: tuple[str, ...] = (), activation: str = "silu") -> Family:
    return Family(moe=True, norm=norm, variants=variants, norm_changes=norm_changes, activation=activation)


def _recurrent(*attention: str, changes: tuple[str, ...] = (), **known: Any) -> Family:
    settings = {"positions": "none", **known}
    return Family(recurrent=True, attention=attention, norm_changes=changes, **settings)


FAMILIES: Mapping[str, Family] = _table(
    # The standard decoder and what differs from it only in numbers.
    (
        "llama mistral ministral ministral3 qwen2 phi3 internlm3 seed_oss arcee smollm3 granite",
        Family(activation="silu"),
    ),
    ("qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text", Family(activation="silu")),
    ("starcoder2", Family(norm="layernorm", activation="gelu_tanh")),
    ("stablelm", Family(norm="layernorm", activation="silu")),
    ("olmo", Family(norm="layernorm", activation="silu", norm_changes=("LayerNorm without weight and bias",))),
    # Small variants.
    ("qwen3 qwen3_vl_text hunyuan_v1_dense", Family(activation="silu", variants=(_QK,))),
    ("ernie4_5 helium", Family(activation="silu", variants=(_INTERLEAVED,))),
    ("olmo2 olmo3", Family(activation="silu", variants=(_QK, _SANDWICH))),
    ("exaone4", Family(activation="silu", variants=(_QK, _SANDWICH, "full-attention layers go without RoPE"))),
    ("glm", Family(activation="silu", variants=(_INTERLEAVED,))),
    ("glm4", Family(activation="silu", variants=(_INTERLEAVED, _SANDWICH))),
    ("gemma", Family(activation="gelu_tanh", variants=(_EMBED,), norm_changes=(_UNIT,))),
    ("gemma2", Family(activation="gelu_tanh", variants=(_EMBED, _SANDWICH), norm_changes=(_UNIT,))),
    ("gemma3_text", Family(activation="gelu_tanh", variants=(_EMBED, _SANDWICH, _QK), norm_changes=(_UNIT,))),
    (
        "cohere",
        Family(norm="layernorm", activation="silu", variants=(_PARALLEL, _INTERLEAVED), norm_changes=(_NO_BIAS,)),
    ),
    (
        "cohere2",
        Family(
            norm="layernorm",
            activation="silu",
            norm_changes=(_NO_BIAS,),
            variants=(_PARALLEL, _INTERLEAVED, "full-attention layers go without RoPE"),
        ),
    ),
    ("phi", Family(norm="layernorm", activation="gelu_tanh", variants=(_PARALLEL,))),
    ("persimmon", Family(norm="layernorm", activation="relu2")),
    ("falcon", Family(norm="layernorm", activation="gelu", ffn_factor=4)),
    ("gpt_neox", Family(norm="layernorm", activation="gelu", ffn_factor=4)),
    ("gptj codegen", _gpt(_PARALLEL, _INTERLEAVED, activation="gelu_tanh", positions="rope")),
    ("gpt2 gpt-sw3", _gpt(_LEARNED, activation="gelu_tanh")),
    ("gpt_bigcode", _gpt(_LEARNED, activation="gelu_tanh")),
    ("gpt_neo", _gpt(_LEARNED, "attention scores are not scaled", activation="gelu_tanh")),
    ("opt", _gpt(_LEARNED, activation="relu")),
    ("biogpt", _gpt(_LEARNED, _EMBED, activation="gelu")),
    ("xglm", _gpt("sinusoidal absolute positions instead of RoPE", _EMBED, activation="gelu")),
    ("bloom", _gpt("a norm after the embedding", activation="gelu_tanh", positions="alibi")),
    ("mpt", _gpt(activation="gelu", positions="alibi")),
    ("nemotron", Family(norm="layernorm", activation="relu2", norm_changes=("LayerNorm weights are offset by one",))),
    ("bitnet", Family(activation="relu2", variants=("norms inside attention and FFN", "ternary weights"))),
    ("apertus", Family(activation="xielu", variants=(_QK,))),
    ("nanochat", Family(activation="relu2", variants=(_QK,), norm_changes=("RMSNorm without weight",))),
    (
        "diffllama",
        Family(activation="silu", variants=("a norm after attention",), attention=("differential attention",)),
    ),
    ("minicpm3", Family(activation="silu")),
    ("youtu", Family(activation="silu", variants=(_INTERLEAVED,))),
    # Mixture of experts.
    ("mixtral qwen2_moe granitemoe granitemoeshared ernie4_5_moe", _moe()),
    ("deepseek_v2 deepseek_v3 deepseek_v32 glm_moe_dsa longcat_flash", _moe()),
    ("qwen3_moe qwen3_vl_moe_text olmoe hunyuan_v1_moe flex_olmo dots1", _moe(_QK)),
    ("glm4_moe", _moe()),
    ("phimoe", _moe(norm="layernorm")),
    ("dbrx", _moe(norm="layernorm", norm_changes=(_NO_BIAS,))),
    ("gpt_oss", Family(moe=True, activation="silu", attention=("attention sinks",), norm_changes=("clamped SwiGLU",))),
    (
        "llama4_text",
        Family(
            moe=True,
            activation="silu",
            variants=(_QK, "some layers go without RoPE"),
            attention=("chunked attention with scores scaled by position",),
        ),
    ),
    # A recurrent state beside or instead of the KV cache.
    ("mamba", _recurrent(_SSM, headless=True, activation="silu")),
    ("mamba2", _recurrent(_SSM, headless=True, activation="silu", changes=(_GATED,))),
    ("falcon_mamba", _recurrent(_SSM, headless=True, activation="silu", changes=("RMSNorm without weight",))),
    ("rwkv", _recurrent("time mixing instead of attention", headless=True, norm="layernorm", activation="relu2")),
    ("xlstm", _recurrent("matrix LSTM instead of attention", headless=True, activation="exponential-gate")),
    ("jamba", _recurrent(_SSM, moe=True, activation="silu")),
    ("zamba", _recurrent(_SSM, activation="gelu")),
    ("zamba2", _recurrent(_SSM, changes=(_GATED,), activation="gelu")),
    ("bamba falcon_h1", _recurrent(_SSM, positions="rope", changes=(_GATED,), activation="silu")),
    ("granitemoehybrid", _recurrent(_SSM, positions="none", moe=True, changes=(_GATED,), activation="silu")),
    ("nemotron_h", _recurrent(_SSM, activation="relu2", changes=(_GATED,))),
    (
        "recurrent_gemma",
        _recurrent("gated linear recurrence", positions="rope", activation="gelu_tanh", changes=(_UNIT,)),
    ),
    (
        "qwen3_next",
        _recurrent(
            _LINEAR,
            positions="rope",
            moe=True,
            activation="silu",
            changes=(
                _UNIT,
                _GATED,
            ),
        ),
    ),
    (
        "qwen3_5_text",
        _recurrent(
            _LINEAR,
            positions="rope",
            activation="silu",
            changes=(
                _UNIT,
                _GATED,
            ),
        ),
    ),
    ("kimi_linear", _recurrent(_LINEAR, moe=True, activation="silu", changes=(_GATED,))),
    ("minimax", _recurrent(_LINEAR, positions="rope", moe=True, activation="silu")),
    ("lfm2", _recurrent("short convolutions beside attention", positions="rope", activation="silu")),
    ("lfm2_moe", _recurrent("short convolutions beside attention", positions="rope", moe=True, activation="silu")),
    # Text models of multimodal wrappers.
    ("mllama_text_model", Family(activation="silu", attention=("cross-attention to image states",))),
)
"""Families by ``model_type``."""
