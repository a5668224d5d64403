"""A Llama with two layers and random weights: small enough to build and run in a moment."""

import numpy as np

from examples.toolchain.checkpoint import Array, Config

CONFIG = Config(
    layers=2,
    hidden=16,
    heads=4,
    kv_heads=2,
    head_dim=4,
    ffn=24,
    vocab=20,
    context=32,
    theta=10000.0,
    epsilon=1e-5,
    eos=2,
)


def weights() -> dict[str, Array]:
    """Weights of the right shapes, rounded to what bfloat16 can hold."""
    chance = np.random.default_rng(5)
    c = CONFIG
    shapes = {"model.embed_tokens": (c.vocab, c.hidden), "lm_head": (c.vocab, c.hidden)}
    for layer in range(c.layers):
        prefix = f"model.layers.{layer}"
        shapes |= {
            f"{prefix}.self_attn.q_proj": (c.heads * c.head_dim, c.hidden),
            f"{prefix}.self_attn.k_proj": (c.kv_heads * c.head_dim, c.hidden),
            f"{prefix}.self_attn.v_proj": (c.kv_heads * c.head_dim, c.hidden),
            f"{prefix}.self_attn.o_proj": (c.hidden, c.heads * c.head_dim),
            f"{prefix}.mlp.gate_proj": (c.ffn, c.hidden),
            f"{prefix}.mlp.up_proj": (c.ffn, c.hidden),
            f"{prefix}.mlp.down_proj": (c.hidden, c.ffn),
        }
    norms = [f"model.layers.{n}.{kind}_layernorm" for n in range(c.layers) for kind in ("input", "post_attention")]
    made = {f"{name}.weight": chance.integers(-8, 9, shape) / 16 for name, shape in shapes.items()}
    made |= {f"{name}.weight": chance.integers(8, 25, c.hidden) / 16 for name in (*norms, "model.norm")}
    return {name: values.astype(np.float32) for name, values in made.items()}


WEIGHTS = weights()
