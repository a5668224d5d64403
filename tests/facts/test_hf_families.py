"""Every fixture against the oracle, and what the oracle does not spell out."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calaudit.evidence.strict_json import parse_json
from calaudit.facts.hf.architecture import Architecture, read_architecture
from calaudit.facts.source.scoring import (
    Features,
    score_architecture,
    score_attention,
    score_context,
    score_deployment,
    score_operators,
)

FIXTURES = Path(__file__).parent.parent / "fixtures" / "hf-configs"
ORACLE = tomllib.loads((FIXTURES / "oracle.toml").read_text("utf-8"))
MATRIX = Features.of(
    ["mha", "gqa", "mqa", "sliding-window"], ["silu", "gelu", "gelu_new", "relu"], ["rmsnorm", "layernorm"]
)


def read(name: str) -> Architecture:
    document = parse_json((FIXTURES / f"{name}.json").read_bytes())
    assert isinstance(document, dict)
    return read_architecture(document)


def told(value: int | None) -> int:
    return -1 if value is None else value


def test_the_oracle_speaks_of_every_fixture() -> None:
    assert sorted(ORACLE) == sorted(path.stem for path in FIXTURES.glob("*.json"))
    assert len(ORACLE) > 100


@pytest.mark.parametrize("name", sorted(ORACLE))
def test_family(name: str) -> None:
    wanted, found = ORACLE[name], read(name)
    rows = [score_architecture(found), score_attention(found, MATRIX), score_operators(found, MATRIX)]
    assert [row.score for row in rows] == wanted["score"], [row.reason for row in rows]
    assert all(row.settled and row.reason.endswith(".") for row in rows)
    assert [told(found.q_heads), told(found.kv_heads), told(found.head_dim)] == wanted["heads"]
    assert found.attention == wanted.get("attention")
    assert (found.moe and [told(found.moe.experts), told(found.moe.active)]) == wanted.get("moe")


@pytest.mark.parametrize("name", sorted(ORACLE))
def test_without_the_vendor_nothing_that_depends_on_it_is_settled(name: str) -> None:
    found, wanted = read(name), ORACLE[name]["score"]
    attention, operators = score_attention(found, None), score_operators(found, None)
    assert attention.settled == (wanted[1] > 0)
    assert attention.score is not None
    assert attention.score <= wanted[1]
    assert operators.settled == (not found.known)
    assert operators.score is not None
    assert operators.score <= wanted[2]


@pytest.mark.parametrize("name", sorted(ORACLE))
def test_a_vendor_that_supports_nothing_leaves_no_zero(name: str) -> None:
    nothing = Features.of([], [], [])
    found = read(name)
    assert score_attention(found, nothing).score in (1, 3)
    assert score_operators(found, nothing).score == 3


@pytest.mark.parametrize(
    ("name", "member", "value"),
    [
        ("gpt2", "ffn", 3072),  # n_inner: null means four times n_embd
        ("falcon-7b-v4", "ffn", 18176),
        ("mpt", "ffn", 8192),  # expansion_ratio
        ("dbrx", "ffn", 3584),
        ("deepseek_v3", "ffn", 2048),  # of one expert
        ("mixtral", "ffn", 14336),
        ("mamba2", "ffn", None),
        ("chatglm3-v4", "vocab", 65024),  # padded_vocab_size
        ("chatglm3-v4", "layers", 28),
        ("gemma3", "vocab", 262208),
        ("gemma3-v4", "vocab", None),
        ("gpt2", "max_position", 1024),
        ("mpt", "max_position", 2048),
        ("bloom-v4", "max_position", 2048),
        ("baichuan-v4", "max_position", 4096),
        ("llama-linear-v4", "max_position", 16384),
        ("qwen2-yarn-v4", "max_position", 131072),
        ("llama3.1-v4", "max_position", 131072),  # 8 times 8192 is less than what is written
        ("deepseek-v3-v4", "max_position", 163840),
        ("falcon-7b-v4", "max_position", None),
        ("phimoe", "norm", "layernorm"),
        ("chatglm3-v4", "norm", "rmsnorm"),
        ("gemma", "activation", "gelu_tanh"),
        ("gpt_neox", "activation", "gelu"),
        ("bloom", "activation", "gelu_tanh"),
        ("dbrx", "activation", "silu"),
        ("gpt2", "rope", None),
        ("bloom", "positions", "alibi"),
        ("jamba", "positions", "none"),
        ("baichuan-v4", "positions", "unknown"),
        ("phi3-code-v4", "custom_code", True),
        ("phi3", "custom_code", False),
        ("qwen2_vl", "multimodal", True),
        ("phi3-vision-v4", "multimodal", True),
        ("gemma3_text", "multimodal", False),
        ("bart", "causal", False),
    ],
)
def test_member(name: str, member: str, value: object) -> None:
    assert getattr(read(name), member) == value


@pytest.mark.parametrize(
    ("name", "kind", "theta"),
    [
        ("llama", "default", 10000.0),
        ("llama2-v4", "default", 10000.0),
        ("llama3.1-v4", "llama3", 500000.0),
        ("gemma3", "default", 1000000.0),  # nested rope_parameters: that of the full layers
        ("gemma3-v4", "linear", None),  # a class default that is not in the file
        ("gpt_oss", "yarn", 150000.0),
        ("qwen2-vl-v4", "mrope", 1000000.0),
        ("phi3-128k-v4", "longrope", 10000.0),
    ],
)
def test_rope(name: str, kind: str, theta: float | None) -> None:
    rope = read(name).rope
    assert rope is not None
    assert (rope.type, rope.theta) == (kind, theta)


@pytest.mark.parametrize(
    ("contexts", "score"),
    [([1], 0), ([8192], 0), ([8193], 1), ([40960], 1), ([40961], 3), ([4096, 131072], 3), ([], None)],
)
def test_context_row(contexts: list[int], score: int | None) -> None:
    assert score_context(contexts).score == score


@pytest.mark.parametrize(
    ("batches", "chips", "score"),
    [
        ([1], [1], 0),
        ([1], [2], 1),
        ([1], [1, 2], 1),
        ([2], [1], 3),
        ([1, 4, 8, 16], [2], 3),
        ([1], [4], 3),
        ([], [1], None),
        ([1], [], None),
    ],
)
def test_deployment_row(batches: list[int], chips: list[int], score: int | None) -> None:
    assert score_deployment(batches, chips).score == score


def llama(**members: object) -> Architecture:
    base = json.loads((FIXTURES / "llama3-v4.json").read_text("utf-8"))
    return read_architecture(base | members)


@pytest.mark.parametrize(
    "members",
    [
        {"auto_map": {"AutoModel": "modeling.Model"}},
        {"num_local_experts": 8},
        {"num_experts": "many"},
        {"n_routed_experts": [64, 64]},
        {"vision_config": {"hidden_size": 1}},
        {"mm_vision_tower": "openai/clip"},
        {"is_encoder_decoder": True},
        {"architectures": ["LlamaForSequenceClassification"]},
        {"model_type": "Llama"},
        {"model_type": None},
        {"model_type": 7},
    ],
)
def test_what_is_written_into_a_standard_config_makes_it_no_standard_decoder(members: dict[str, object]) -> None:
    assert score_architecture(llama(**members)).score == 3


@pytest.mark.parametrize(
    "members",
    [
        {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
        {"partial_rotary_factor": 0.5},
        {"use_qk_norm": True},
        {"final_logit_softcapping": 30.0},
        {"clip_qkv": 8.0},
        {"num_nextn_predict_layers": 1},
        {"attention_multiplier": 1.0},
        {"intermediate_size": [1, 2]},
        {"quantization_config": {"bits": 4}},
        {"no_rope_layers": [1, 0]},
    ],
)
def test_small_variants(members: dict[str, object]) -> None:
    assert score_architecture(llama(**members)).score == 1


@pytest.mark.parametrize(
    "members",
    [
        {"kv_lora_rank": 512},
        {"index_topk": 2048},
        {"alibi": True},
        {"use_bidirectional_attention": True},
        {"attention_chunk_size": 8192},
        {"add_cross_attention": True},
        {"layer_types": ["full_attention", "linear_attention"]},
        {"layer_types": ["full_attention", 7]},
        {"attention_sink_size": 4},
    ],
)
def test_new_attention(members: dict[str, object]) -> None:
    assert score_attention(llama(**members), MATRIX).score == 3


def test_a_window_counts_only_where_the_context_outgrows_it() -> None:
    assert llama(sliding_window=4096).attention == "sliding-window"
    assert llama(sliding_window=8192).attention == "gqa"
    assert llama(sliding_window="all").attention == "sliding-window"
    assert llama(sliding_window=0).attention == "gqa"
    assert llama(layer_types=["full_attention"], sliding_window=16).attention == "gqa"
    assert llama(layer_types=["sliding_attention"]).attention == "sliding-window"


def test_multi_head_and_multi_query_are_cases_of_grouped_attention() -> None:
    grouped = Features.of(["gqa"], ["silu"], ["rmsnorm"])
    assert score_attention(llama(num_key_value_heads=32), grouped).score == 0
    assert score_attention(llama(num_key_value_heads=1), grouped).score == 0
    assert score_attention(llama(), Features.of(["mha"], ["silu"], ["rmsnorm"])).score == 3


def test_without_heads_the_attention_row_has_no_score() -> None:
    row = score_attention(llama(num_attention_heads=None, num_key_value_heads=None), MATRIX)
    assert (row.score, row.settled) == (None, False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = sorted({key for path in FIXTURES.glob("*.json") for key in json.loads(path.read_text("utf-8"))})


@settings(deadline=None)  # a loaded machine is no failure
@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=6), JSON, max_size=12))
def test_no_json_object_makes_it_crash_or_score_a_silent_zero(document: dict[str, object]) -> None:
    found = read_architecture(document)
    for row in (score_architecture(found), score_attention(found, MATRIX), score_operators(found, MATRIX)):
        assert row.reason
        assert row.score in (0, 1, 3, None)
        assert row.score != 0 or found.known


@settings(deadline=None)  # a loaded machine is no failure
@given(st.sampled_from(sorted(ORACLE)), st.data())
def test_one_wild_member_in_a_real_config_never_crashes(name: str, data: st.DataObject) -> None:
    document = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    document[data.draw(st.sampled_from(NAMES))] = data.draw(JSON)
    found = read_architecture(document)
    score_architecture(found)
    score_attention(found, MATRIX)
    score_operators(found, MATRIX)


@pytest.mark.parametrize("name", sorted(ORACLE))
def test_no_real_config_says_two_things_of_rope(name: str) -> None:
    assert read(name).disputed == ()


@pytest.mark.parametrize(
    "members",
    [
        {"rope_theta": 5e5, "rope_parameters": {"rope_theta": 1e4, "rope_type": "default"}},
        {"rope_scaling": {"type": "yarn", "factor": 4.0}, "rope_parameters": {"rope_theta": 1e4}},
        {"rope_scaling": {"type": "linear", "rope_type": "yarn", "factor": 4.0}},
        {"rope_theta": 1e4, "partial_rotary_factor": 1.0, "rope_parameters": {"partial_rotary_factor": 0.5}},
    ],
)
def test_two_things_said_of_rope(members: dict[str, Any]) -> None:
    assert read_architecture({"model_type": "llama", **members}).disputed
