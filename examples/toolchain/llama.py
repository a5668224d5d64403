"""A Llama decoder in numpy: the reference. Float32, or bfloat16 in which every operation's result is rounded.

One class holds the weights, another one growing sequence with its key/value cache. Written for reading, not for speed;
attention runs in blocks of queries so that a long prompt does not need a matrix of context by context.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import ml_dtypes
import numpy as np

from calaudit.harness.generation import Logits
from examples.toolchain.checkpoint import Array, Config, load_weights, rope_tables

__all__ = ["DTYPES", "Llama", "LlamaSequence"]

DTYPES = ("float32", "bfloat16")
QUERY_BLOCK = 64


def _exact(x: Array) -> Array:
    return x


def _to_bfloat16(x: Array) -> Array:
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


class Llama:
    """Weights and tables of one model in one dtype."""

    def __init__(self, config: Config, weights: Mapping[str, Array], dtype: str) -> None:
        self.config = config
        self.round = {"float32": _exact, "bfloat16": _to_bfloat16}[dtype]
        self.vectors = {name: w for name, w in weights.items() if w.ndim == 1}
        self.matrices = {name: np.ascontiguousarray(w.T) for name, w in weights.items() if w.ndim == 2}
        self.embedding = weights["model.embed_tokens.weight"]
        cosine, sine = rope_tables(config)
        self.cosine, self.sine = self.round(cosine), self.round(sine)

    @classmethod
    def load(cls, source: Path, dtype: str) -> Self:
        """The model of a ``00-source`` folder."""
        return cls(Config.load(source), load_weights(source), dtype)

    def begin(self) -> "LlamaSequence":
        """A new, empty sequence."""
        return LlamaSequence(self)

    def linear(self, x: Array, name: str) -> Array:
        """Multiply by a weight matrix."""
        return self.round(x @ self.matrices[name])

    def rms_norm(self, x: Array, name: str) -> Array:
        """Root-mean-square normalisation over the last axis."""
        mean = (x * x).sum(-1, keepdims=True) / np.float32(self.config.hidden)
        return self.round(self.round(x / np.sqrt(mean + np.float32(self.config.epsilon))) * self.vectors[name])

    def rotate(self, x: Array, positions: slice) -> Array:
        """Rotary position embedding of ``[heads, tokens, head_dim]``."""
        half = self.config.head_dim // 2
        low, high = x[..., :half], x[..., half:]
        cosine, sine, r = self.cosine[positions], self.sine[positions], self.round
        return np.concatenate([r(r(low * cosine) - r(high * sine)), r(r(high * cosine) + r(low * sine))], axis=-1)

    def feed_forward(self, x: Array, prefix: str) -> Array:
        """The gated SiLU network of one layer."""
        gate = self.linear(x, f"{prefix}.gate_proj.weight")
        silu = self.round(gate / (1 + np.exp(-gate)))
        return self.linear(self.round(silu * self.linear(x, f"{prefix}.up_proj.weight")), f"{prefix}.down_proj.weight")

    def attend(self, query: Array, keys: Array, values: Array) -> Array:
        """Causal attention of the newest tokens over all keys; a group of query heads shares a key head."""
        heads, tokens, size = query.shape
        grouped = query.reshape(self.config.kv_heads, -1, tokens, size)
        keys, values = keys[:, None].swapaxes(2, 3), values[:, None]
        past = keys.shape[3] - tokens
        blocks = [
            self._attend_block(grouped[:, :, start : start + QUERY_BLOCK], keys, values, past + start)
            for start in range(0, tokens, QUERY_BLOCK)
        ]
        return np.concatenate(blocks, axis=2).reshape(heads, tokens, size)

    def _attend_block(self, query: Array, keys: Array, values: Array, first: int) -> Array:
        """Attention of the queries at the positions from ``first`` on."""
        size = query.shape[2]
        scores = self.round(query @ keys[..., : first + size])
        scores *= np.float32(1 / np.sqrt(self.config.head_dim))
        if size > 1:
            scores[..., first:] += np.triu(np.full((size, size), -np.inf, np.float32), 1)  # the future of each query
        scores -= scores.max(-1, keepdims=True)
        weight = np.exp(scores, out=scores)
        weight /= weight.sum(-1, keepdims=True)
        return self.round(self.round(weight) @ values[:, :, : first + size])


class LlamaSequence:
    """One growing sequence: its length and its key/value cache."""

    def __init__(self, model: Llama) -> None:
        self.model = model
        self.length = 0
        config = model.config
        shape = (config.layers, 2, config.kv_heads, config.context, config.head_dim)
        self._cache = np.zeros(shape, np.float32)

    def feed(self, token_ids: Sequence[int]) -> Logits:
        """Append token ids; the logits ``[vocab]`` after the last of them."""
        *_, (_, logits) = self.trace(token_ids)
        last: Logits = logits[0, 0]
        return last

    def trace(self, token_ids: Sequence[int]) -> Iterator[tuple[str, Array]]:
        """Append token ids and give each boundary with its tensor, ``[1, tokens, …]``; logits are the last token's."""
        model = self.model
        x = model.embedding[np.asarray(token_ids)]
        yield "embedding", x[None]
        for layer in range(model.config.layers):
            x = self._layer(layer, x)
            yield f"layers.{layer}.output", x[None]
        x = model.rms_norm(x, "model.norm.weight")
        yield "norm", x[None]
        self.length += len(token_ids)
        yield "logits", model.linear(x[-1:], "lm_head.weight")[None]

    def _layer(self, layer: int, x: Array) -> Array:
        model, prefix = self.model, f"model.layers.{layer}"
        attended = self._attention(layer, model.rms_norm(x, f"{prefix}.input_layernorm.weight"))
        x = model.round(x + attended)
        normed = model.rms_norm(x, f"{prefix}.post_attention_layernorm.weight")
        return model.round(x + model.feed_forward(normed, f"{prefix}.mlp"))

    def _attention(self, layer: int, x: Array) -> Array:
        model, tokens = self.model, x.shape[0]
        new = slice(self.length, self.length + tokens)
        query, key, value = (
            model.linear(x, f"model.layers.{layer}.self_attn.{name}_proj.weight")
            .reshape(tokens, -1, model.config.head_dim)
            .transpose(1, 0, 2)
            for name in "qkv"
        )
        keys, values = self._cache[layer]
        keys[:, new], values[:, new] = model.rotate(key, new), value
        out = model.attend(model.rotate(query, new), keys[:, : new.stop], values[:, : new.stop])
        return model.linear(out.transpose(1, 0, 2).reshape(tokens, -1), f"model.layers.{layer}.self_attn.o_proj.weight")
