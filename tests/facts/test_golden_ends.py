"""What the ends of the network must give, for the families that do more there than the example."""

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calaudit.contract import Contract
from calaudit.evidence import gather
from calaudit.facts import Facts
from calaudit.facts.tensors.ends import GoldenEnds
from tests import rehash
from tests.attacks import forge
from tests.casebook import PORT, copy_port

CONFIG = "00-source/hf-config/config.json"
GOLDEN = "01-reference/tensor-golden/"
HIDDEN = 128


def weights() -> dict[str, Any]:
    raw = (PORT / forge.CHECKPOINT).read_bytes()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    found = {}
    for name, tensor in json.loads(raw[8:start]).items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            bits = np.frombuffer(raw[start + begin : start + end], "<u2").astype("<u4") << 16
            found[name] = bits.view("<f4").reshape(tensor["shape"])
    return found


def rewrite(port: Path, does: dict[str, Any]) -> None:
    """Make the golden tensors those of another family, one after the other."""
    scale, offset, head = does.get("scale", 1.0), does.get("offset", 0.0), does.get("head", "lm_head.weight")
    factor, cap = does.get("factor", 1.0), does.get("cap")
    source = weights()
    norm, matrix = source["model.norm.weight"].astype(float) + offset, source[head].astype(float)
    for entry in json.loads((port / GOLDEN / "index.json").read_text())["tensors"]:
        name, path = entry["name"], port / GOLDEN / entry["path"]
        stem = entry["path"].removesuffix(f"{name}.npy")
        if name == "embedding":
            np.save(path, (np.load(path) * scale).astype("<f4"))
        elif name == "norm":
            x = np.load(port / GOLDEN / f"{stem}layers.3.output.npy").astype(float)
            np.save(path, (x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * norm).astype("<f4"))
        elif name == "logits" and (port / GOLDEN / f"{stem}norm.npy").exists():
            x = matrix @ np.load(port / GOLDEN / f"{stem}norm.npy").astype(float)[0, -1] * factor
            np.save(path, (x if cap is None else cap * np.tanh(x / cap)).astype("<f4")[None, None])


def ends(port: Path, contract: Contract) -> GoldenEnds:
    return Facts(gather(port, specs=contract.gates, schemas=contract.schemas), contract).get(GoldenEnds)


def outside(port: Path, contract: Contract) -> set[str]:
    return {e.entry.key.name for e in ends(port, contract).ends if e.compare(1e-4, 1e-3).violations}


@pytest.mark.parametrize(
    ("config", "does", "wrong_without"),
    [
        ({}, {}, set()),
        (
            {"model_type": "gemma2", "final_logit_softcapping": 4.0, "tie_word_embeddings": True},
            {"scale": math.sqrt(HIDDEN), "offset": 1.0, "cap": 4.0, "head": "model.embed_tokens.weight"},
            {"embedding", "norm", "logits"},
        ),
        (
            {"model_type": "granite", "embedding_multiplier": 12.0, "logits_scaling": 8.0},
            {"scale": 12.0, "factor": 0.125},
            {"embedding", "logits"},
        ),
        ({"tie_word_embeddings": True}, {"head": "model.embed_tokens.weight"}, {"logits"}),
        ({"model_type": "qwen3"}, {}, set()),
        ({"model_type": "mixtral", "num_local_experts": 8}, {}, set()),
    ],
    ids=["llama", "gemma2", "granite", "tied", "qwen3", "mixtral"],
)
def test_a_family(
    config: dict[str, Any], does: dict[str, Any], wrong_without: set[str], tmp_path: Path, contract: Contract
) -> None:
    port = tmp_path / "port"
    copy_port(port)
    before = rehash.digests_of_a_fresh_copy(PORT)
    rewrite(port, does)
    rehash.update(port, contract, before)
    assert outside(port, contract) == wrong_without
    forge.edit(port / CONFIG, lambda c: c.update(config))
    assert outside(port, contract) == set()
    assert ends(port, contract).compared == 18


@pytest.mark.parametrize(
    ("config", "left"),
    [
        ({"model_type": "gpt2"}, {"logits"}),  # learned positions, LayerNorm
        ({"model_type": "stablelm"}, {"embedding", "logits"}),
        ({"dim_model_base": 64}, {"embedding", "norm"}),
        ({"logit_scale": "inv_sqrt_d_model"}, {"embedding", "norm"}),
    ],
    ids=lambda given: str(given) if isinstance(given, dict) else "-".join(sorted(given)),
)
def test_what_is_not_known_is_left_out(
    config: dict[str, Any], left: set[str], tmp_path: Path, contract: Contract
) -> None:
    copy_port(tmp_path / "port")
    forge.edit(tmp_path / "port" / CONFIG, lambda c: c.update(config))
    assert {e.entry.key.name for e in ends(tmp_path / "port", contract).ends} == left


@pytest.mark.parametrize(
    "config", [{"model_type": "nobody"}, {"auto_map": {"AutoModel": "m.M"}}, {"model_type": "jamba"}]
)
def test_a_model_that_is_not_known(config: dict[str, Any], tmp_path: Path, contract: Contract) -> None:
    copy_port(tmp_path / "port")
    forge.edit(tmp_path / "port" / CONFIG, lambda c: c.update(config))
    found = ends(tmp_path / "port", contract)
    assert found.ends == ()
    assert found.unknown is not None


def test_a_quantised_head_is_not_taken_for_a_tied_one(tmp_path: Path, contract: Contract) -> None:
    port = tmp_path / "port"
    copy_port(port)
    path = port / forge.CHECKPOINT
    path.write_bytes(path.read_bytes().replace(b'"lm_head.weight"', b'"lm_head.qweigh"'))
    forge.edit(port / CONFIG, lambda c: c.pop("tie_word_embeddings"))
    assert {e.entry.key.name for e in ends(port, contract).ends} == {"embedding", "norm"}
