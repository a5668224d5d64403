# ruff: noqa: RUF001 - letters of many scripts are the point
"""How the tiny checkpoint was made; kept for the record, and not run by anything here.

It needs torch and transformers, which the toolchain otherwise does without:
``python examples/toolchain/train_checkpoint.py OUT && python -m examples.toolchain freeze OUT/hf SOURCE HELD_OUT``.
It trains a byte-level BPE tokenizer and a Llama of 0.85 million parameters on the source of the running Python's
standard library, 500 steps on one thread, in about three minutes. Another Python, another CPU or another torch gives
another checkpoint: that is why its result is frozen in the repository.
"""

import argparse
import os
import random
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM

SPECIAL = ["<|pad|>", "<|bos|>", "<|eos|>", "<|im_start|>", "<|im_end|>"]
FOREIGN = (
    "你好，世界。这是一个测试。机器学习模型量化编译。",
    "こんにちは世界。これはテストです。",
    "Привет, мир. Это тест.",
    "Bonjour le monde, ceci est un essai.",
    "안녕하세요 세계.",
)
CONTEXT, WINDOW, BATCH, STEPS = 2048, 256, 8, 500
HELD_OUT_SHARE = 0.02


def main() -> None:
    """Train and write ``OUT/hf`` and ``OUT/val_ids.npy``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    library = Path(os.__file__).parent
    sources = [path.read_text("utf-8", "ignore") for path in sorted(library.glob("*.py"))]
    tokenizer = train_tokenizer(sources)
    stream = tokenize(tokenizer, sources)
    split = int(len(stream) * (1 - HELD_OUT_SHARE))
    model = train_model(stream[:split])
    model.save_pretrained(out / "hf")
    tokenizer.save(str(out / "hf" / "tokenizer.json"))
    np.save(out / "val_ids.npy", stream[split:])


def train_tokenizer(sources: list[str]) -> Tokenizer:
    """A byte-level BPE of 1024 tokens that adds BOS to every text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1024, special_tokens=SPECIAL, initial_alphabet=alphabet)
    tokenizer.train_from_iterator([*sources, *FOREIGN * 200], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="<|bos|> $A", special_tokens=[("<|bos|>", 1)])
    return tokenizer


def tokenize(tokenizer: Tokenizer, sources: list[str]) -> NDArray[np.int64]:
    """All documents in a random order, each between BOS and EOS."""
    documents = [*sources, *["".join(FOREIGN * 10)] * 20]
    random.shuffle(documents)
    eos = tokenizer.token_to_id("<|eos|>")
    return np.array([i for text in documents for i in (*tokenizer.encode(text).ids, eos)], np.int64)


def train_model(stream: NDArray[np.int64]) -> LlamaForCausalLM:
    """Random windows of the stream, AdamW, one cycle."""
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=1024,
            hidden_size=128,
            intermediate_size=256,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=CONTEXT,
            rms_norm_eps=1e-5,
            tie_word_embeddings=False,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=STEPS)
    chance = np.random.default_rng(0)
    for _ in range(STEPS):
        starts = chance.integers(0, len(stream) - WINDOW - 1, BATCH)
        batch = torch.from_numpy(np.stack([stream[at : at + WINDOW] for at in starts]))
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()


if __name__ == "__main__":
    main()
