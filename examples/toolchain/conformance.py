"""Tokenizer conformance: what the tokenizer does with the corpus, and what it says of BOS, EOS and chats.

``decoded`` is the tokenizer's own decoding with special tokens kept. A round trip holds when the decoding is the text
behind the tokens that the tokenizer adds, and when encoding it again, adding nothing, gives the same ids.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from calaudit.harness.documents import sha256_file
from calaudit.model import Json

__all__ = ["conformance"]


def conformance(source: Path, prompts: Iterable[dict[str, Any]]) -> dict[str, Json]:
    """The document tokenizer-conformance/v1 of a ``00-source`` folder over the legal prompts."""
    path = source / "hf-config" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    config = json.loads(path.with_name("tokenizer_config.json").read_bytes())
    template: str = config["chat_template"]
    return {
        "schema": "calaudit-tokenizer-conformance/v1",
        "tokenizer_sha256": sha256_file(path),
        "vocab_size": tokenizer.get_vocab_size(),
        "bos": _special(tokenizer, config["bos_token"]),
        "eos": _special(tokenizer, config["eos_token"]),
        "chat_template": {
            "present": True,
            "sha256": hashlib.sha256(template.encode()).hexdigest(),
            "where": "00-source/hf-config/tokenizer_config.json#/chat_template",
            "reason": None,
        },
        "samples": [_sample(tokenizer, prompt) for prompt in prompts],
    }


def _special(tokenizer: Tokenizer, token: str) -> dict[str, Json]:
    token_id = tokenizer.token_to_id(token)
    return {"token": token, "id": token_id, "added": token_id in tokenizer.encode("").ids}


def _sample(tokenizer: Tokenizer, prompt: dict[str, Any]) -> dict[str, Json]:
    ids: list[int] = prompt["token_ids"]
    decoded: str = tokenizer.decode(ids, skip_special_tokens=False)
    added = tokenizer.decode(tokenizer.encode("").ids, skip_special_tokens=False)
    again = tokenizer.encode(decoded, add_special_tokens=False).ids
    return {
        "sample_id": prompt["sample_id"],
        "token_ids": list(ids),
        "decoded": decoded,
        "round_trip": decoded == added + prompt["text"] and again == ids,
    }
