"""The frozen checkpoint: its configuration, its weights, and what follows from them alone."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

__all__ = ["Array", "Config", "boundaries", "load_weights", "rope_tables"]

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What ``config.json`` says of the architecture."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    context: int
    theta: float
    epsilon: float
    eos: int

    @classmethod
    def load(cls, source: Path) -> Self:
        """Read the configuration of a ``00-source`` folder."""
        raw = json.loads((source / "hf-config" / "config.json").read_bytes())
        return cls(
            layers=raw["num_hidden_layers"],
            hidden=raw["hidden_size"],
            heads=raw["num_attention_heads"],
            kv_heads=raw["num_key_value_heads"],
            head_dim=raw["head_dim"],
            ffn=raw["intermediate_size"],
            vocab=raw["vocab_size"],
            context=raw["max_position_embeddings"],
            theta=raw["rope_parameters"]["rope_theta"],
            epsilon=raw["rms_norm_eps"],
            eos=raw["eos_token_id"],
        )


def boundaries(config: Config) -> list[str]:
    """The places where tensors are compared, in the order of computation."""
    return ["embedding", *(f"layers.{i}.output" for i in range(config.layers)), "norm", "logits"]


def load_weights(source: Path) -> dict[str, Array]:
    """The weights of a ``00-source`` folder; BF16 to float32 is exact."""
    stored = load_file(source / "weights" / "model.safetensors")
    return {name: np.asarray(values).astype(np.float32) for name, values in stored.items()}


def rope_tables(config: Config) -> tuple[Array, Array]:
    """Cosine and sine of every position's rotation angles, ``[context, head_dim / 2]``.

    Angles are float32 products, as in transformers; their cosine and sine are taken in float64 and rounded once, so
    that the tables are the same bits on every CPU.
    """
    exponent = np.arange(0, config.head_dim, 2, dtype=np.float64) / config.head_dim
    frequency = (1.0 / config.theta**exponent).astype(np.float32)
    angle = (np.arange(config.context, dtype=np.float32)[:, None] * frequency).astype(np.float64)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
