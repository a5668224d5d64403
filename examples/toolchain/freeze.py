"""Freeze a trained checkpoint into ``00-source``: BF16 weights, clean configs, a chat template, the held-out text.

Done once; its result is committed. BF16 halves the file, and FP32 arithmetic on it is exact on the stored values.
"""

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from safetensors.numpy import load_file, save

from calaudit.files import write_atomic
from calaudit.harness.documents import json_bytes, jsonl_bytes
from examples.toolchain.quality import held_out_samples

__all__ = ["CHAT_TEMPLATE", "freeze"]

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def freeze(checkpoint: Path, source: Path, held_out: Path) -> None:
    """Turn a checkpoint folder, with ``val_ids.npy`` beside it, into ``source`` and the quality set ``held_out``."""
    configs, weights = source / "hf-config", source / "weights"
    configs.mkdir(parents=True, exist_ok=True)
    weights.mkdir(parents=True, exist_ok=True)
    config = _read(checkpoint / "config.json") | {"dtype": "bfloat16"}
    write_atomic(configs / "config.json", json_bytes(config))
    write_atomic(configs / "generation_config.json", json_bytes(_read(checkpoint / "generation_config.json")))
    write_atomic(configs / "tokenizer.json", (checkpoint / "tokenizer.json").read_bytes())
    write_atomic(configs / "tokenizer_config.json", json_bytes(_tokenizer_config(config)))
    rounded = {n: w.astype(ml_dtypes.bfloat16) for n, w in load_file(checkpoint / "model.safetensors").items()}
    write_atomic(weights / "model.safetensors", save(rounded, metadata={"format": "pt"}))
    stream = np.load(checkpoint.parent / "val_ids.npy", allow_pickle=False).tolist()
    write_atomic(held_out, jsonl_bytes(held_out_samples(configs / "tokenizer.json", stream)))


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def _tokenizer_config(config: dict[str, Any]) -> dict[str, Any]:
    # Written anew: the trainer's file holds a number beyond 64 bits (model_max_length) that strict parsers refuse.
    return {
        "add_bos_token": True,
        "add_eos_token": False,
        "bos_token": "<|bos|>",
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|eos|>",
        "model_max_length": config["max_position_embeddings"],
        "pad_token": "<|pad|>",
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
