"""The names by which a model takes and gives its KV cache."""

from collections.abc import Collection, Iterator

_FAMILIES = (
    ("past_{kind}_{layer}", "present_{kind}_{layer}"),
    ("past_key_values.{layer}.{kind}", "present.{layer}.{kind}"),
)
"""Ours, and the one of Hugging Face exporters."""


def kv_names(layers: int, inputs: Collection[str], outputs: Collection[str]) -> Iterator[tuple[int, str, str, str]]:
    """Layer, kind (key or value), input and output of every cache tensor that a model of so many layers needs."""
    for layer in range(layers):
        for kind in ("key", "value"):
            yield layer, kind, *_pair(layer, kind, inputs, outputs)


def key_names(layer: int, inputs: Collection[str], outputs: Collection[str]) -> tuple[str, str]:
    """Input and output of a layer's keys."""
    return _pair(layer, "key", inputs, outputs)


def _pair(layer: int, kind: str, inputs: Collection[str], outputs: Collection[str]) -> tuple[str, str]:
    pairs = [(p.format(layer=layer, kind=kind), n.format(layer=layer, kind=kind)) for p, n in _FAMILIES]
    return next(((p, n) for p, n in pairs if p in inputs or n in outputs), pairs[0])
