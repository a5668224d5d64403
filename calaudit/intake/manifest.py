"""The first source manifest of a port: what the model's files say is filled in, what a person decides is asked for."""

from collections.abc import Iterator

from calaudit.contract import Value
from calaudit.facts.hf.architecture import Architecture
from calaudit.facts.source.scoring import ROWS, Row, score_architecture, score_attention, score_operators
from calaudit.intake.checkpoint import Checkpoint
from calaudit.model import Json

ASKED = "REQUIRED: "
"""How a placeholder begins; the rule placeholder-left finds it."""

_WEIGHTS_ELSEWHERE = (
    f"{ASKED}copy the file to 00-source/weights/ and delete this member, or give the URI where it is kept, such as "
    "s3://bucket/name#sha256=its digest"
)


def write_manifest(found: Checkpoint, limits: dict[str, Value], *, with_weights: bool) -> dict[str, Json]:
    """The manifest of a model directory; ``limits`` are the values of the profile's params."""
    return {
        "schema": "calculet-model-source/v1",
        "model_id": "vendor/name@revision",
        "repository": f"{ASKED}https URL of the model's repository",
        "revision": f"{ASKED}full commit of the repository, 40 hexadecimal digits",
        "license": f"{ASKED}SPDX expression of the licence of the weights, such as Apache-2.0",
        "terms": {
            "commercial_use": f"{ASKED}true if the licence allows commercial use, else false",
            "redistribution": f"{ASKED}true if the licence allows passing the converted weights on, else false",
            "attribution": f"{ASKED}text that the licence wants shown, or null",
        },
        "dependencies": [
            {
                "name": f"{ASKED}what the model needs besides itself; an empty list if nothing",
                "license": f"{ASKED}its SPDX expression",
            }
        ],
        "task": f"{ASKED}what the model is for, such as text-generation",
        "files": list(_files(found, with_weights=with_weights)),
        "architecture": describe(found),
        "tokenizer": {
            "vocab_size": found.tokens or 0,
            "sha256": found.digest("tokenizer.json") or f"{ASKED}SHA-256 of 00-source/hf-config/tokenizer.json",
        },
        "targets": _targets(limits),
        "complexity": {"rows": dict(_rows(found)), "total": f"{ASKED}sum of the rows"},
        "decision": {
            "go": f"{ASKED}go or no-go",
            "by": f"{ASKED}name of the person or team that decides",
            "date": f"{ASKED}day of the decision, YYYY-MM-DD",
            "reason": f"{ASKED}why, in a sentence",
        },
    }


def score(found: Checkpoint) -> dict[str, Row]:
    """The rows of the complexity table that the model's files decide; what the vendor decides supposes support."""
    code = sum(file.name.endswith(".py") for file in found.files)
    return {
        "architecture": score_architecture(found.architecture, code_files=code),
        "attention": score_attention(found.architecture, None),
        "activation_norm": score_operators(found.architecture, None),
    }


def describe(found: Checkpoint) -> dict[str, Json]:
    """The manifest's architecture."""
    config: Architecture = found.architecture
    stated: dict[str, Json] = {
        "layers": _asked(config.layers, "number of decoder layers"),
        "hidden": _asked(config.hidden, "width of the residual stream"),
        "q_heads": _heads(config.q_heads, "number of query heads"),
        "kv_heads": _heads(config.kv_heads, "number of KV heads"),
        "head_dim": _heads(config.head_dim, "width of one query head"),
        "ffn": _asked(config.ffn, "width inside the feed-forward block"),
        "vocab": _asked(config.vocab, "rows of the embedding"),
        "norm": _asked(config.norm, "kind of the norm, such as rmsnorm"),
        "activation": _asked(config.activation, "activation of the feed-forward block, such as silu"),
        "attention": _asked(config.attention, "mha, gqa, mqa, sliding-window, latent or other"),
        "moe": None,
        "custom_code": config.custom_code or any(file.name.endswith(".py") for file in found.files),
        "parameters": _asked(found.counted.parameters if found.counted else None, "number of weights"),
    }
    if config.recurrent and config.ffn is None:
        del stated["ffn"]  # a state-space layer has no feed-forward block beside it
    if config.rope is not None:
        stated["rope"] = {"type": config.rope.type, "theta": _asked(config.rope.theta, "base of the rotary embedding")}
    elif config.positions == "unknown":
        stated["rope"] = f"{ASKED}type and theta of the rotary embedding; delete this member if the model has none"
    if config.moe is not None:
        stated["moe"] = {
            "experts": _asked(config.moe.experts, "routed experts of a layer"),
            "active": _asked(config.moe.active, "experts that one token goes through"),
        }
    return stated


def has_no_heads(found: Checkpoint) -> bool:
    """Whether the model has no attention heads, for which a source manifest has no words yet."""
    heads = (found.architecture.q_heads, found.architecture.kv_heads, found.architecture.head_dim)
    return 0 in heads


def _heads(value: int | None, what: str) -> Json:
    if value == 0:
        return f"{ASKED}{what}; the model has none, and this version of calaudit takes only models that have some"
    return _asked(value, what)


def _asked(value: float | str | None, what: str) -> Json:
    return f"{ASKED}{what}; the config does not say" if value is None else value


def _files(found: Checkpoint, *, with_weights: bool) -> Iterator[Json]:
    for file in found.files:
        entry: dict[str, Json] = {
            "path": f"{'weights' if file.weight else 'hf-config'}/{file.name}",
            "bytes": file.size,
            "sha256": file.sha256,
        }
        if file.weight and not with_weights and not file.name.endswith(".json"):
            entry["uri"] = _WEIGHTS_ELSEWHERE
        yield entry
    if not any(file.name.endswith(".safetensors") for file in found.files):
        yield {
            "path": "weights/model.safetensors",
            "bytes": 0,
            "sha256": f"{ASKED}SHA-256 of the file; list every weight file like this",
            "uri": _WEIGHTS_ELSEWHERE,
        }


def _targets(limits: dict[str, Value]) -> dict[str, Json]:
    batches, chips = (", ".join(map(str, _listed(limits[name]))) for name in ("batches", "chips"))
    return {
        "context": [f"{ASKED}context lengths in tokens, a list of numbers, each at most {limits['context_max']}"],
        "batch": [f"{ASKED}batch sizes, a list of numbers out of {batches}"],
        "chips": [f"{ASKED}numbers of chips, a list of numbers out of {chips}"],
        "concurrency": f"{ASKED}requests in flight at once",
        "ttft_ms": f"{ASKED}longest time to the first token, P99, in milliseconds",
        "tpot_ms": f"{ASKED}longest time for each further token, P99, in milliseconds",
        "throughput_tokens_per_s": f"{ASKED}least generated tokens a second, all requests together",
        "power_w": f"{ASKED}most power of the device in watts",
        "quality": {
            "metric": f"{ASKED}what is measured, such as perplexity",
            "maximum": f"{ASKED}worst value that is still good; call the member minimum if more is better",
        },
    }


def _listed(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _rows(found: Checkpoint) -> Iterator[tuple[str, Json]]:
    scored = score(found)
    for name in ROWS:
        row = scored.get(name)
        what = "the points of the targets: 0, 1 or 3 (runbook §4.2)" if row is None else f"0, 1 or 3. {row.reason}"
        yield name, f"{ASKED}{what}" if row is None or row.score is None else row.score
