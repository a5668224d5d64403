"""What kind of attention a model computes, and what of it no stock operator with a causal or windowed mask computes."""

from dataclasses import dataclass

from calaudit.facts.hf.families import Family
from calaudit.facts.hf.positions import Placement
from calaudit.facts.hf.section import Section

_PLAIN_LAYERS = frozenset({"full_attention", "sliding_attention"})
_SINKS_OF_EXPERTS = ("shared_expert_sink", "sinkhorn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Heads as the config counts them, the kind (None where the config does not say), and what is new about it.

    A model without attention has 0 heads.
    ``head_dim`` is the width of a query head. For latent attention that is the part without RoPE plus the part with it;
    transformers writes the latter alone as ``head_dim``.
    """

    q_heads: int | None
    kv_heads: int | None
    head_dim: int | None
    kind: str | None
    new: tuple[str, ...]


def read_attention(
    config: Section, family: Family | None, placement: Placement, *, hidden: int | None, nested: bool
) -> Attention:
    """Read everything about attention.

    ``nested`` says that the config is a part of another one: transformers leaves out of such a part what equals a class
    default, so an absent number of KV heads says nothing there.
    """
    new = tuple(_new(config, family, placement))
    if family is not None and family.headless:
        return Attention(q_heads=0, kv_heads=0, head_dim=0, kind="other", new=new)
    q_heads = config.integer("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")
    kv_heads = _kv_heads(config, q_heads, nested=nested)
    if config.has("kv_lora_rank"):
        kind: str | None = "latent"
    elif new:
        kind = "other"
    elif _is_windowed(config, placement.max_position):
        kind = "sliding-window"
    else:
        kind = kind_of_heads(q_heads, kv_heads)
    head_dim = _head_dim(config, hidden, q_heads)
    return Attention(q_heads=q_heads, kv_heads=kv_heads, head_dim=head_dim, kind=kind, new=new)


def kind_of_heads(q_heads: int | None, kv_heads: int | None) -> str | None:
    """``mha``, ``gqa`` or ``mqa`` by the numbers of heads; None where one is not known."""
    if q_heads is None or kv_heads is None:
        return None
    if kv_heads == q_heads:
        return "mha"
    return "mqa" if kv_heads == 1 else "gqa"


def read_layers(text: Section) -> int | None:
    """How many layers there are."""
    stated = text.integer("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_blocks")
    return stated or len(text.items("layers_block_type")) or len(text.text("hybrid_override_pattern") or "") or None


def _kv_heads(config: Section, q_heads: int | None, *, nested: bool) -> int | None:
    stated = config.integer("num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv", "num_query_groups")
    inner = config.section("attn_config")
    if isinstance(config.raw.get("multi_query"), bool):  # Falcon and StarCoder: the flag outranks the number
        if config.flag("new_decoder_architecture"):
            return stated or q_heads
        return 1 if config.flag("multi_query") else q_heads
    if config.flag("multi_query_attention"):
        return config.integer("multi_query_group_num") or 1
    if inner.text("attn_type") == "multiquery_attention":
        return 1
    stated = inner.integer("kv_n_heads") or stated
    absent = "num_key_value_heads" not in config.raw
    return stated or (None if nested and absent else q_heads)


def _head_dim(config: Section, hidden: int | None, q_heads: int | None) -> int | None:
    if config.has("kv_lora_rank"):
        plain, turned = config.integer("qk_nope_head_dim"), config.integer("qk_rope_head_dim")
        return plain + turned if plain and turned else config.integer("qk_head_dim")
    stated = config.integer("head_dim", "attention_head_dim", "kv_channels", "d_kv")
    if stated is None and hidden and q_heads and hidden % q_heads == 0:
        return hidden // q_heads
    return stated


def _is_windowed(config: Section, longest: int | None) -> bool:
    """Whether some layer sees a window that the longest context outgrows."""
    if "local" in [x for x in config.items("attention_layers") if isinstance(x, str)]:
        window: object = config.raw.get("window_size")
    else:
        window = next((v for n in ("sliding_window", "sliding_window_size") if (v := config.raw.get(n))), None)
        types = config.items("layer_types")
        if types:
            if "sliding_attention" not in [x for x in types if isinstance(x, str)]:
                return False
            window = window or True
        elif config.raw.get("use_sliding_window") is False:
            return False
        elif config.flag("use_sliding_window"):
            first, layers = config.integer("max_window_layers"), read_layers(config)
            if first is not None and layers is not None and first >= layers:
                return False  # Qwen2: only layers from max_window_layers on have a window
    if isinstance(window, int) and not isinstance(window, bool) and longest is not None and window >= longest:
        return False
    return bool(window)


def _new(config: Section, family: Family | None, placement: Placement) -> list[str]:
    found = list(family.attention) if family is not None else []
    if config.has("kv_lora_rank"):
        found.append("latent attention")
    if config.has("index_topk"):
        found.append("attention to selected tokens only")
    if placement.positions == "alibi":
        found.append("ALiBi adds a slope for each head to the mask")
    if config.flag("prefix_lm") or config.section("attn_config").flag("prefix_lm"):
        found.append("a prefix mask")
    if config.truthy("use_bidirectional_attention"):
        found.append("tokens see later tokens")
    if config.truthy("add_cross_attention", "cross_attention_layers") and not any(
        "cross" in reason for reason in found
    ):
        found.append("cross-attention")
    if config.has("attention_chunk_size"):
        found.append("a chunked mask")
    if any("sink" in name and bool(value) and not _of_experts(name) for name, value in config.raw.items()):
        found.append("attention sinks")
    types = config.items("layer_types", "layers_block_type", "block_types")
    odd = sorted({str(kind) for kind in types if not (isinstance(kind, str) and kind in _PLAIN_LAYERS)})
    if odd and not (family is not None and family.recurrent):
        found.append(f"layers of type {', '.join(odd)[:80]}")
    return list(dict.fromkeys(found))


def _of_experts(name: str) -> bool:
    return any(part in name for part in _SINKS_OF_EXPERTS)
