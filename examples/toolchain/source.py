"""The source manifest (G0) of the frozen checkpoint.

The checkpoint was trained for this example and is hosted nowhere else, so its revision is not a commit of a hub: it is
the SHA-1 of its file list, which moves whenever a byte of it moves.
"""

import hashlib
from pathlib import Path

from calaudit.harness.documents import sha256_file, write_json
from calaudit.model import Json
from examples.toolchain.checkpoint import Config, load_weights

__all__ = ["REPOSITORY", "write_manifest"]

NAME = "calaudit/tiny-dense"
REPOSITORY = "https://example.invalid/calaudit/tiny-dense"

_LICENSES = {
    "cpython-standard-library": "PSF-2.0",
    "ml-dtypes": "Apache-2.0",
    "numpy": "BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0",
    "onnx": "Apache-2.0",
    "onnxruntime": "MIT",
    "safetensors": "Apache-2.0",
    "tokenizers": "Apache-2.0",
}
"""Licences of what the model is made of and made with; the standard library's source is the training text."""


def write_manifest(source: Path) -> None:
    """Write ``source-manifest.json`` for the files in ``source``."""
    config = Config.load(source)
    tokenizer = sha256_file(source / "hf-config" / "tokenizer.json")
    files = [_file(source, path) for folder in ("hf-config", "weights") for path in sorted((source / folder).iterdir())]
    revision = _revision(files)
    write_json(
        source / "source-manifest.json",
        {
            "schema": "calculet-model-source/v1",
            "model_id": f"{NAME}@{revision}",
            "repository": REPOSITORY,
            "revision": revision,
            "license": "Apache-2.0",
            "terms": {
                "commercial_use": True,
                "redistribution": True,
                "attribution": "Trained on the source of the Python standard library, (c) Python Software Foundation.",
            },
            "dependencies": [{"name": name, "license": license_id} for name, license_id in _LICENSES.items()],
            "task": "text-generation",
            "files": list[Json](files),
            "architecture": _architecture(config, sum(w.size for w in load_weights(source).values())),
            "tokenizer": {"vocab_size": config.vocab, "sha256": tokenizer},
            "targets": _targets(config),
            "complexity": _complexity(),
            "decision": {
                "go": "go",
                "by": "Example model team",
                "date": "2026-11-29",
                "reason": "A standard dense decoder with a clear licence and targets: the smallest port that is real.",
            },
        },
    )


def _file(source: Path, path: Path) -> dict[str, Json]:
    return {"path": path.relative_to(source).as_posix(), "bytes": path.stat().st_size, "sha256": sha256_file(path)}


def _revision(files: list[dict[str, Json]]) -> str:
    listing = "".join(f"{f['sha256']}  {f['path']}\n" for f in files)
    return hashlib.sha1(listing.encode(), usedforsecurity=False).hexdigest()


def _architecture(config: Config, parameters: int) -> dict[str, Json]:
    return {
        "layers": config.layers,
        "hidden": config.hidden,
        "q_heads": config.heads,
        "kv_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "ffn": config.ffn,
        "vocab": config.vocab,
        "rope": {"type": "default", "theta": config.theta},
        "norm": "rmsnorm",
        "activation": "silu",
        "attention": "gqa",
        "moe": None,
        "custom_code": False,
        "parameters": parameters,
    }


def _targets(config: Config) -> dict[str, Json]:
    return {
        "context": [config.context],
        "batch": [1],
        "chips": [1],
        "concurrency": 1,
        "ttft_ms": 500,
        "tpot_ms": 50,
        "throughput_tokens_per_s": 20,
        "power_w": 15,
        "quality": {"metric": "perplexity", "maximum": 60.0},
    }


def _complexity() -> dict[str, Json]:
    # Runbook §4.2: a dense decoder, GQA, SiLU and RMSNorm from the vendor's matrix, context <= 8K, batch 1 on one chip.
    rows: dict[str, Json] = dict.fromkeys(("architecture", "attention", "activation_norm", "context", "deployment"), 0)
    return {"rows": rows, "total": 0}
